from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0006_bookmarks")]

    operations = [
        migrations.AddField(
            model_name="grant",
            name="messages",
            field=models.BooleanField(
                default=False,
                help_text="What producers wrote, where [messages] allows it",
                verbose_name="may look at messages",
            ),
        ),
    ]
