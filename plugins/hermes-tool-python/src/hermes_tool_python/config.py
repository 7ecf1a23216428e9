"""The settings of the tool."""

from typing import Literal

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """Scripts of the agent that call tools."""

    mode: Literal["auto", "fast", "full"] = option(
        "Which Python runs scripts: `fast` is a small one without files or packages, `full` that of the place where "
        "commands run, `auto` the small one where it is installed and a script needs no more.",
        default="auto",
    )
    calls: int = option("Calls of tools that one script may make.", default=50, validator=[ge(0), le(200)])
    seconds: int = option(
        "The longest a script may take, beside its calls of tools.", default=300, validator=[ge(1), le(3600)]
    )
    memory_mb: int = option("Memory of one script, in megabytes.", default=2048, validator=[ge(64), le(65_536)])
    output_kb: int = option("Output of one script that is kept, in kilobytes.", default=50, validator=[ge(1), le(1000)])
    idle: int = option(
        "Seconds after which kept variables are forgotten when no script used them.",
        default=1800,
        validator=[ge(10), le(86_400)],
    )
