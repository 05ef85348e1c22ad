from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0004_embeds")]

    operations = [
        migrations.CreateModel(
            name="Attempts",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("counted", models.IntegerField()),
                ("since", models.BigIntegerField(db_index=True)),
                ("told", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Pulse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
            ],
        ),
    ]
