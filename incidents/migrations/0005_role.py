from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('incidents', '0004_paged'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='role',
            field=models.CharField(choices=[('responder', 'Responder'), ('manager', 'Manager'), ('auditor', 'Auditor')], default='responder', max_length=10),
        ),
    ]
