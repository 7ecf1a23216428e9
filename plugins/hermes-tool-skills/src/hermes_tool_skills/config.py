"""The settings under ``tools.skills``."""

from hermes_core.options import ge, option, settings


@settings
class Bundle:
    """Skills that are followed together, under one name."""

    skills: list[str] = option("Their names, in the order in which they are followed.", example=["plan-a-change"])
    description: str = option("What it is for.", default="")
    instruction: str = option("What is said before them.", default="")


@settings
class Config:
    """Skills."""

    external_dirs: list[str] = option(
        "Folders of skills that are used as they are and never written.", factory=list, example=["~/work/skills"]
    )
    disabled: list[str] = option("Skills that are not used.", factory=list, example=["plan-a-change"])
    platform_disabled: dict[str, list[str]] = option(
        "The same for one way in: cli, a platform, child.", factory=dict, example={"telegram": ["debug-a-test"]}
    )
    bundles: dict[str, Bundle] = option(
        "Skills under one name: /skill NAME follows all of them.",
        factory=dict,
        example={"change": {"skills": ["plan-a-change", "review-a-change"], "instruction": "In small steps."}},
    )
    index_chars: int = option(
        "The most characters that the list of skills takes in a prompt.", default=4_000, validator=ge(200)
    )
    writes: bool = option("Let the agent write skills of its own.", default=True)
    approve: bool = option("What the agent writes waits for `hermes skills approve`.", default=False)
    trusted: list[str] = option(
        "Where skills come from that you trust more: the start of an address, up to a slash.",
        factory=list,
        example=["https://github.com/acme/skills"],
    )
    sources: list[str] = option(
        "Where `hermes skills search` looks: clawhub, skills.sh, index:https://SITE, git:OWNER/REPOSITORY.",
        factory=lambda: ["skills.sh", "clawhub", "git:anthropics/skills"],
        example=["index:https://docs.example.org", "git:https://git.example.org/skills.git"],
    )
    archives: str = option(
        "Where OWNER/REPOSITORY is fetched from, as OWNER/REPOSITORY/tar.gz/REF below it.",
        default="https://codeload.github.com",
    )
    curate: bool = option(
        "Once a week put away what the agent wrote and does not use; it can be brought back.", default=True
    )
    stale_days: int = option(
        "Days without use after which a skill of the agent's is listed last.", default=30, validator=ge(1)
    )
    archive_days: int = option("Days without use after which it is put away.", default=90, validator=ge(1))
    versions: int = option("Versions of a skill that are kept for going back.", default=50, validator=ge(2))
