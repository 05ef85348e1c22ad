from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("event", models.CharField(max_length=40)),
                ("cluster", models.CharField(max_length=63)),
                ("about", models.CharField(max_length=100)),
                ("sentence", models.CharField(max_length=300)),
                ("body", models.BinaryField()),
                ("target", models.CharField(max_length=300)),
                ("key", models.CharField(max_length=32, unique=True)),
                ("made_at", models.DateTimeField()),
                ("next_at", models.DateTimeField()),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, default="", max_length=300)),
                ("ended_at", models.DateTimeField(null=True)),
                ("is_taken", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)),
                        fields=["next_at"],
                        name="deliveries_that_wait",
                    ),
                    models.Index(fields=["ended_at"], name="notices_del_ended_a_3007bb_idx"),
                    models.Index(fields=["cluster", "about"], name="notices_del_cluster_50d416_idx"),
                ],
            },
        ),
    ]
