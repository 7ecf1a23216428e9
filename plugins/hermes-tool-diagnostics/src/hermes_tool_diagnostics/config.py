"""The settings of the diagnostics."""

from typing import Literal

from hermes_core.options import ge, le, option, settings


@settings
class ServerRow:
    """A language server that is not among the known ones, or stands in for one of them."""

    command: list[str] = option("The program and its arguments; it speaks over its standard input and output.")
    files: dict[str, str] = option(
        "Endings of the files it looks at, and the language each is in.", example={".foo": "foo"}
    )
    roots: list[str] = option("Files that mark the folder it is started in.", factory=list, example=["foo.toml"])


@settings
class Config:
    """Problems in files that were just changed."""

    servers: Literal["walled", "always", "never"] = option(
        "Where language servers are started: behind a wall or in a container, also on this machine without a wall, or"
        " nowhere. They run code of the project.",
        default="walled",
    )
    seconds: float = option(
        "How long a result waits for them; what comes later stands below the next one.",
        default=2.5,
        validator=[ge(0), le(4)],
    )
    idle: float = option(
        "Seconds after which a language server that nobody used is ended.", default=600.0, validator=ge(1)
    )
    off: list[str] = option(
        "Checkers that are not asked: names of servers, or of languages.", factory=list, example=["ruff", "yaml"]
    )
    more: dict[str, ServerRow] = option("More language servers, by name.", factory=dict)
    footer: Literal["terminal", "always", "never"] = option(
        "Where a turn's end says which files it changed.", default="terminal"
    )
    check: Literal["terminal", "always", "never"] = option(
        "Where a turn that changed code and ran nothing since is sent on, once, to check it or to say why not.",
        default="never",
    )
