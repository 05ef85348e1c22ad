"""What stood as the tone of a finding is its severity."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("alarms", "0001_initial")]
    operations = [
        migrations.RenameField("Occurrence", "tone", "severity"),
        migrations.RenameField("Acknowledgement", "tone", "severity"),
    ]
