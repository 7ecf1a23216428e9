"""``hermes web``: the full screen in a browser."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

__all__ = ["build", "child", "surroundings", "token_from"]

TOKEN = "HERMES_WEB_TOKEN"  # noqa: S105 - the name of the variable
_SHORTEST = 32
_HAND_ON = {"model": "--model", "provider": "--provider", "toolsets": "--toolsets", "resume": "--resume"}
_SWITCHES = {"continue_": "--continue", "yolo": "--yolo", "safe_mode": "--safe-mode"}
# What tells a program about the terminal that the server was started in, which is not the visitor's.
_TERMINALS = ("TMUX", "STY", "ZELLIJ", "KITTY_", "WEZTERM_", "ITERM_", "GHOSTTY_", "LC_TERMINAL", "VTE_", "KONSOLE_")
_OTHERS = ("TEXTUAL", "TERM_PROGRAM", "LINES", "COLUMNS", "ROWS", "COLORFGBG", "WT_SESSION", "SSH_TTY")


def build() -> "click.Command":
    """The command."""
    import click

    @click.command("web")
    @click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: one that is free.")
    @click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
    @click.option("--expose", is_flag=True, help="Allow an address that other machines reach.")
    @click.option("--open/--no-open", "opened", default=None, help="Open a browser; usual on a desktop.")
    @click.option("--visitors", type=click.IntRange(1, 64), default=4, show_default=True, help="How many at a time.")
    @click.option("--json", "as_json", is_flag=True, help="Tell the address as one JSON object.")
    @click.pass_obj
    def command(scope: Any, /, **options: Any) -> int:
        """Use the full-screen terminal in a browser on this machine, until it is stopped (Ctrl+C).

        The address that is printed holds a token, new each time; whoever has it talks to your agent. A token of your
        own, 32 characters or more, can be given in HERMES_WEB_TOKEN. Each browser is a process and a conversation of
        its own.

        \b
        Examples:
          hermes web
          hermes -p work web --port 0 --json --no-open
          ssh -L 8765:127.0.0.1:8765 server hermes web --no-open
        """
        from hermes_platform_tui.web.run import run

        return run(scope, **options)

    return command


def child(scope: Any, program: str, python: str) -> list[str]:
    """The command line of a visitor's process: this program, with the flags that this command was given."""
    from pathlib import Path

    path = Path(program)
    words = [python, "-m", "hermes_core"] if not path.exists() or path.suffix == ".py" else [program]
    words += ["--profile", scope.home.profile, "--interface", "tui"]
    for name, flag in _HAND_ON.items():
        if value := scope.flags.get(name):
            words += [flag, str(value)]
    return words + [flag for name, flag in _SWITCHES.items() if scope.flags.get(name)]


def surroundings(scope: Any, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a visitor's process: without the token, and without the terminal that is not its own."""
    kept = {
        name: value
        for name, value in environ.items()
        if name != TOKEN and name not in _OTHERS and not name.startswith((*_TERMINALS, "TEXTUAL_", "TERM_PROGRAM_"))
    }
    brand = scope.home.brand.upper().replace("-", "_")
    return {**kept, f"{brand}_HOME": str(scope.home.base)}


def token_from(environ: Mapping[str, str]) -> str:
    """The token: the person's own, or a new one. Raises UserError for one that is too weak."""
    import secrets

    given = environ.get(TOKEN, "")
    if not given:
        return secrets.token_urlsafe(32)
    if len(given) < _SHORTEST or not given.isascii() or not given.isprintable() or " " in given:
        from hermes_core.errors import UserError

        raise UserError(
            f"{TOKEN} is too weak: a token has at least {_SHORTEST} plain characters.",
            hint='Make one with: python3 -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    return given
