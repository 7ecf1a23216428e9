"""The settings of schedules."""

from typing import Literal

from hermes_core.options import ge, option, settings


@settings
class Config:
    """How jobs run where they say nothing else."""

    zone: str = option("The time zone of schedules, such as Europe/Berlin; empty: that of this machine.", default="")
    deliver: str = option(
        "Where results of jobs from a terminal go, as `telegram`; local: into the history only.", default="local"
    )
    parallel: int = option("Jobs that run side by side at most.", default=8, validator=ge(1))
    keep: int = option("Past instants of each job that are kept.", default=1000, validator=ge(1))
    jobs: int = option("Jobs that one person may have.", default=200, validator=ge(1))
    wrap: bool = option("Put the name of its job above what is delivered.", default=True)
    mode: Literal["ask", "smart", "off"] = option(
        "The widest mode that a job may be given; jobs have `ask` where they say nothing.", default="ask"
    )
    calls: int = option("Model calls of one run; 0 for what every turn may have.", default=0, validator=ge(0))
