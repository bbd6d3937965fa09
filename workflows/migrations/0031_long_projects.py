from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0030_rule_of_group")]

    operations = [
        migrations.AlterField(
            model_name="ticket",
            name="place",
            field=models.CharField(max_length=300),
        ),
        migrations.AlterField(
            model_name="trackerread",
            name="place",
            field=models.CharField(max_length=300, unique=True),
        ),
    ]
