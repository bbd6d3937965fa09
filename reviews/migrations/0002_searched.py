from django.db import migrations

# Index the text of reviews written before it was searched with their incidents.
_ADD = """
    UPDATE incidents_incident i
       SET words = coalesce(i.words, ''::tsvector) || said.words
      FROM (SELECT review.incident_id, strip(to_tsvector('english', string_agg(written.text, ' '))) AS words
              FROM reviews_sectiontext written
              JOIN reviews_reviewsection part ON part.id = written.section_id AND part.version = written.version
              JOIN reviews_review review ON review.id = part.review_id
             GROUP BY review.incident_id) said
     WHERE i.id = said.incident_id AND octet_length(coalesce(i.words, ''::tsvector)::text) <= 600000
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_initial"), ("incidents", "0019_words_are_read_by_the_search_alone")]

    operations = [migrations.RunSQL(_ADD, migrations.RunSQL.noop)]
