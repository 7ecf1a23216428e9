"""What a person sets of models in files."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """Where GGUF files are, and what they are run with."""

    folder: str = option("Where the files are; empty: models in the home.", default="", example="~/models")
    gpu_layers: int = option("Layers that a graphics card holds; -1: as many as fit.", default=-1, validator=ge(-1))
    threads: int = option("Threads that reckon; 0: as many as there are cores.", default=0, validator=ge(0))
    idle: int = option("Minutes without a question after which a model is let go of.", default=15, validator=ge(1))
    check_memory: bool = option("Refuse a model that needs more memory than is free.", default=True)
