"""The settings of the stores that programs read."""

from hermes_core.options import option, settings


@settings
class Config:
    """Which programs read secrets, and how they are called."""

    commands: dict[str, list[str]] = option(
        "Programs of your own, by the name that stands behind `command:`; each prints one secret. No shell.",
        factory=dict,
        example={"gateway": ["/usr/local/bin/fetch-secret", "--team", "ops"]},
    )
    bulk_command: list[str] = option(
        "The program that `command` in secrets.bulk runs: it prints a JSON object, names of variables with values.",
        factory=list,
        example=["/usr/local/bin/all-secrets"],
    )
    programs: dict[str, str] = option(
        "Where the program of a store lies; empty: on the search path.", factory=dict, example={"op": "/opt/op/op"}
    )
    arguments: dict[str, list[str]] = option(
        "Words put behind the name of a store's program.",
        factory=dict,
        example={"op": ["--account", "my.1password.com"]},
    )
