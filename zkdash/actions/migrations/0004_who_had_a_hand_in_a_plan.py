from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def credit(apps: Any, _schema_editor: Any) -> None:
    """Of what still waits the audit knows who proposed it; the row itself names who submitted it."""
    action, audit = apps.get_model("actions", "Action"), apps.get_model("actions", "Audit")
    author, user = apps.get_model("actions", "Author"), apps.get_model(settings.AUTH_USER_MODEL)
    for waiting in action.objects.filter(state__in=("planned", "pending")):
        proposal = audit.objects.filter(action=waiting.id, event="proposed").order_by("id").first()
        name = proposal.who if proposal else waiting.by
        who = user.objects.filter(username=name).first()
        author.objects.create(action=waiting, user=who, name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("actions", "0003_the_audit_is_append_only"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Author",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "action",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authors",
                        to="actions.action",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.RunPython(credit, migrations.RunPython.noop),
    ]
