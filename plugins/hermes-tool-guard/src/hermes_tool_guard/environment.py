"""Environment variables that decide what other programs run."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_tool_guard.judgement import Class

if TYPE_CHECKING:
    from hermes_tool_guard.scene import Scene

__all__ = ["assigned"]

_STEERING = re.compile(
    r"PATH|IFS|ENV|HIST(?:FILE|SIZE|FILESIZE|CONTROL|IGNORE)|BASH_ENV|BASH_FUNC.*|BASHOPTS|SHELLOPTS|PROMPT_COMMAND|PS[0-4]|HOME|SHELL|CDPATH"
    r"|FPATH|ZDOTDIR|LD_.*|DYLD_.*"
    r"|PYTHON(?:PATH|STARTUP|HOME|INSPECT|BREAKPOINT|WARNINGS|USERBASE|EXECUTABLE)|PERL5?(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)"
    r"|NODE_(?:OPTIONS|PATH|REPL_.*)|GIT_(?:SSH.*|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND"
    r"|CONFIG.*|EXEC_PATH|TEMPLATE_DIR|DIR|WORK_TREE|ALTERNATE.*)|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER"
    r"|LESS(?:OPEN|CLOSE|EDIT)"
    r"|SUDO_.*|SSH_ASKPASS|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|RUSTC(?:_.*)?|RUSTFLAGS|CARGO_(?:TARGET_.*|BUILD_.*|HOME)"
    r"|JAVA_TOOL_OPTIONS|_?JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|TAR_OPTIONS|RSYNC_.*|CVS_RSH"
    r"|BASH_.*|OPENSSL_.*|GCONV_PATH"
    r"|DOCKER_HOST|KUBECONFIG|HERMES_.*|AWK.*|LUA_.*|PHPRC|PHP_INI.*|R_PROFILE.*|TERMINFO.*"
    r"|npm_config_.*|PIP_.*|UV_.*"
)
_HARMLESS = {
    "PAGER": r"cat|less(?: -\w+)*|",
    "GIT_PAGER": r"cat|less(?: -\w+)*|",
    "MANPAGER": r"cat|",
    "EDITOR": r"true|:|cat|vi|vim|nano|",
    "VISUAL": r"true|:|cat|vi|vim|nano|",
    "GIT_EDITOR": r"true|:|cat|",
    "GIT_SEQUENCE_EDITOR": r"true|:|",
    "BROWSER": r"none|true|",
    "NODE_OPTIONS": r"(?:--(?:max[-_]old[-_]space[-_]size=\d+|no-warnings|experimental-vm-modules|trace-warnings"
    r"|openssl-legacy-provider) ?)*",
    "NODE_PATH": r"\.|\./[\w./-]*",
    "PYTHONWARNINGS": r"[\w:.,]*",
    "PYTHONBREAKPOINT": r"0|",
    "PYTHONINSPECT": r"|",
    "RUSTFLAGS": r"(?:-[DAWC] ?[\w:=.-]+ ?)*",
    "CARGO_TARGET_DIR": r"\.?/?[\w.][\w./-]*",
    "MAKEFLAGS": r"-j ?\d*",
    "PIP_.*": r"[01]|true|false|yes|no",
    "UV_.*": r"[01]|true|false|never|copy|hardlink|[\d.]+",
    "HERMES_HOME": r"(?!)",
    "PS[0-4]": r"[^$`]*",
    "SHELL": r"/bin/(?:ba)?sh",
    "MAVEN_OPTS": r"(?:-X\w+ ?)*",
    "SHELLOPTS": r"",
}
_UNSET = re.compile(r"(?!HIST|PATH$|IFS$|HOME$)\w+")
_PATHS = re.compile(
    r"(?:/usr)?(?:/local)?/s?bin|/home/[\w.-]+/(?:\.local|\.cargo|go|\.npm-global|\.bun|\.deno|\.pyenv"
    r"|\.rbenv|\.poetry)/(?:bin|shims)"
    r"|/root/(?:\.local|\.cargo|go)/bin|/usr/local/[\w.-]+/bin|/opt/[\w.-]+/bin"
)


def assigned(scene: "Scene", name: str, values: Sequence[str], *, prefix: bool) -> None:
    """A variable is set, for one command (``prefix``) or from now on."""
    for value in values:
        if "credentials" not in value and name and _names_secret(scene, value):
            scene.ask(Class.CREDENTIALS, f"names {value[:60]}, which may hold credentials")
    if not _STEERING.fullmatch(name):
        return
    if values == ["\0"] and _UNSET.fullmatch(name):
        return  # not setting it at all decides nothing
    if name == "IFS" and prefix and all(v in ("", "\n", ",", ":", "\t", " ", "|", ";", "=") for v in values):
        return  # IFS= read -r line
    for value in values:
        if (name == "PATH" and _usual_path(scene, value)) or (name == "PYTHONPATH" and _own_path(scene, value)):
            continue
        allowed = next((v for k, v in _HARMLESS.items() if re.fullmatch(k, name)), None)
        if allowed is None or not re.fullmatch(allowed, value):
            scene.ask(Class.UNCLEAR, f"sets {name}, which decides what programs run or what they do")
            _harm(scene, value)


def _harm(scene: "Scene", value: str) -> None:
    """Deny a value that holds what is never done: a program may run it."""
    from hermes_tool_guard.programs.carried import carried
    from hermes_tool_guard.run import Run

    carried(Run(scene, ["env", value], (scene.places.root or "/",), None))


def _names_secret(scene: "Scene", value: str) -> bool:
    from hermes_tool_guard.places import Zone

    if not value.startswith(("/", "~", ".")) or " " in value or len(value) > 400:
        return False
    return any(
        scene.places.zone(p) is Zone.CREDENTIAL for p in scene.places.absolute(value, (scene.places.root or "/",))
    )


def _own_path(scene: "Scene", value: str) -> bool:
    """Whether only folders of the project, and what was there before, are searched."""
    from hermes_tool_guard.places import Zone

    own, places = (Zone.INSIDE, Zone.WORKSPACE), scene.places
    here = (places.root or "/",)
    folders = [folder for folder in value.split(":") if folder not in ("", "\x00")]
    return all(places.zone(path) in own for folder in folders for path in places.absolute(folder, here))


def _usual_path(scene: "Scene", value: str) -> bool:
    """Whether a PATH only puts usual folders, or the project's own environment, before what was there."""
    for folder in value.split(":"):
        own = re.fullmatch(
            r"(?:\./)?(?:\.?venv/bin|node_modules/\.bin|vendor/bin)", folder.removeprefix(f"{scene.places.root}/")
        )
        usual = _PATHS.fullmatch(folder.replace(scene.places.home, "/home/me", 1))
        if folder != "\x00" and not own and not usual:
            return False
    return True
