"""The runs of the pipeline, as a Django app. No Spark at import."""

from django.apps import AppConfig


class PipelineConfig(AppConfig):
    name = "zkdash.pipeline"
    label = "pipeline"
    verbose_name = "Pipeline"
