from django.db import migrations, models

STATES = (
    *("planned", "pending", "queued", "running", "verifying"),
    *("done", "failed", "refused", "stopped", "unknown"),
)


class Migration(migrations.Migration):
    """No action was ever kept without a plan, so that "draft" is no state; databases stay as they are."""

    dependencies = [("actions", "0004_who_had_a_hand_in_a_plan")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="action",
                    name="state",
                    field=models.CharField(
                        choices=[(state, state) for state in STATES], default="planned", max_length=12
                    ),
                )
            ]
        )
    ]
