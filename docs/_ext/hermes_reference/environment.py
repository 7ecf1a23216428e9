"""The page of the environment variables."""

from hermes_core.store.killpoints import POINTS
from hermes_reference.config import catalogue
from hermes_reference.markdown import code, joined, table

VARIABLES = {
    "HERMES_HOME": "The folder of everything Hermes keeps. Default: `~/.hermes`.",
    "HERMES_PROFILE": "The profile to use, as `-p`.",
    "HERMES_BACKUP_PASSPHRASE": "What seals and opens copies with secrets, where nobody is there to ask.",
    "HERMES_PROVIDER": "With `hermes setup --non-interactive`: who answers, as `--provider`.",
    "HERMES_MODEL": "The same for `--model`.",
    "HERMES_BASE_URL": "The same for `--base-url`.",
    "HERMES_KEY_ENV": "The same for `--key-env`: the name of the variable that holds the key.",
    "HERMES_BACKEND": "The same for `--backend`.",
    "HERMES_WORKSPACE": "The same for `--workspace`.",
    "HERMES_INTERFACE": "The same for `--interface`.",
    "HERMES_YOLO": "`1`: ask nothing, as `--yolo`. The hard blocks stay.",
    "HERMES_INFERENCE_MODEL": "The model of a run that starts Hermes as Hermes Agent: see {doc}`../how-to/migrate`.",
    "HERMES_TRUST": "`1`: for this run the folder is known, as `--trust`; what is marked in it stays marked.",
    "HERMES_SAFE_MODE": "`1`: only the distribution's own plugins, as `--safe-mode`.",
    "HERMES_TUI_THEME": "`light`, `dark` or the name of a skin: how the full screen looks, whatever is configured.",
    "HERMES_WEB_TOKEN": "The token of `hermes web`, 32 characters or more; without it each start makes one.",
    "HERMES_STRICT": "`1`: errors of plugins are raised instead of recorded, with their traceback. For authors.",
    "HERMES_TRACE_HOOKS": "`1`: print every hook call with its plugin and how long it took, on stderr.",
    "HERMES_TESTING": "`1`: a test is at work; without it `HERMES_DIE_AT` means nothing.",
    "HERMES_DIE_AT": "End the process by SIGKILL at a point of a turn: `POINT`, or `POINT:N` for the N-th time. "
    "Points: " + ", ".join(f"`{name}` ({meaning})" for name, meaning in POINTS.items()) + ".",
}
INNER = {
    "HERMES_RUN": "In each command of a tool: a time-out finds all it started by it, `hermes` knows its own tools.",
    "HERMES_WARDEN": "Set in a container for the process that ends what a Hermes started there, once it is gone.",
    "HERMES_SH": "Carries a script into a container; the command does not see it.",
    "HERMES_PATH": "Carries a command's own `PATH` into a container; the command sees it as `PATH`.",
    "HERMES_SKILL_DIR": "No variable: `${HERMES_SKILL_DIR}` in the text of a skill is filled in with its folder.",
    "HERMES_SESSION_ID": "No variable either: filled in with the id of the session that reads the skill.",
}
OTHERS = {
    "VISUAL": "The editor of `hermes config edit`, and of the terminal's Ctrl+G; else `EDITOR`, else `vi`.",
    "EDITOR": "See `VISUAL`.",
}


def secrets() -> dict[str, list[str]]:
    """Secrets and addresses the providers look for -> the providers."""
    found: dict[str, list[str]] = {}
    for entry in (*catalogue("openai"), *catalogue("anthropic")):
        for name in (*entry.get("env", ()), entry.get("base_url_env", "")):  # type: ignore[misc]
            if name:
                found.setdefault(str(name), []).append(str(entry["name"]))
    return dict(sorted(found.items()))


def page() -> str:
    """Every variable that is read."""
    return joined(
        "# Environment variables",
        "A program built as a distribution of its own has its name in place of `HERMES` in `HERMES_HOME` and "
        "`HERMES_PROFILE`. Where the meaning is given for `1`, `0`, `false`, `no`, `n`, `off` and nothing mean off.",
        table(("variable", "meaning"), [(code(n), text) for n, text in VARIABLES.items()]),
        "## Also read",
        table(("variable", "meaning"), [(code(n), text) for n, text in OTHERS.items()]),
        "## Set for others",
        table(("variable", "meaning"), [(code(n), text) for n, text in INNER.items()]),
        "## Keys and addresses of providers",
        "Each may stand in the environment or in `~/.hermes/.env`; the environment wins.",
        table(("variable", "provider"), [(code(n), ", ".join(map(code, p))) for n, p in secrets().items()]),
    )
