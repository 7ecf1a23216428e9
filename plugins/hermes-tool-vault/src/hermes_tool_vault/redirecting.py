"""Commands, pages and fields with handles in them, as calls of the vault's own tools.

A shell would give a value to all that it runs, and show it in its arguments. So a command with a handle is one program:
``NAME={{vault:x}} program words``, or with ``<<< '{{vault:x}}'`` behind it. A plain ``curl`` is a request.
"""

import re
import shlex
from collections.abc import Mapping

from attrs import evolve

from hermes_core.types import JSON, ToolCall
from hermes_tool_vault.items import HANDLE

__all__ = ["redirected"]

_SET = re.compile(r"""([A-Za-z_]\w*)=(?:"({{[^{}"]*}})"|'({{[^{}']*}})'|({{[^{}\s]*}}))\s+""")
_EXPORT = re.compile(r"""export\s+([A-Za-z_]\w*)=["']?({{[^{}"']*}})["']?\s*(?:&&|;|\n)\s*""")
_INPUT = re.compile(r"""\s*<<<\s*(?:"([^"$`\\]*)"|'([^']*)'|(\S+))\s*$""")
_ECHO = re.compile(r"""^(?:echo|printf(?:\s+['"]?%s(?:\\n)?['"]?)?)\s+(?:"([^"$`\\]*)"|'([^']*)'|(\S+))\s*\|\s*""")
_QUIET = frozenset(
    {"-s", "-S", "-sS", "-Ss", "-f", "-fsS", "-sSf", "-sf", "--silent", "--show-error", "--fail", "--compressed"}
)


def redirected(call: ToolCall) -> ToolCall | None:
    """The call of a tool of the vault that does the same, or says why nothing does; None for one without a handle."""
    arguments = call.arguments
    if call.name == "web_fetch":
        if not HANDLE.search(str(dict(arguments))):
            return None
        kept = {name: arguments[name] for name in ("url", "method", "headers", "body") if name in arguments}
        return evolve(call, name="vault_fetch", arguments=kept)
    if call.name == "browser_type":
        if not HANDLE.search(str(arguments.get("text", ""))):
            return None
        filled: dict[str, JSON] = {str(arguments.get("ref", "")): arguments["text"]}
        return evolve(call, name="vault_fill", arguments={"fields": filled, "submit": arguments.get("submit", False)})
    command = arguments.get("command")
    if not isinstance(command, str) or not HANDLE.search(command):
        return None
    if request := _request(command):
        return evolve(call, name="vault_fetch", arguments=request)
    rest = {name: arguments[name] for name in ("timeout", "workdir") if name in arguments}
    return evolve(call, name="vault_run", arguments={**_program(command), **rest})


def _program(command: str) -> dict[str, JSON]:
    """A command with its environment and its standard input apart; as it is where it is more than one program."""
    environment: dict[str, JSON] = {}
    left, stdin = command.strip(), ""
    if (piped := _ECHO.match(left)) and HANDLE.search(piped[0]):
        left, stdin = left[piped.end() :], f"{_first(piped)}\n"
    while (found := _SET.match(left)) or (found := _EXPORT.match(left)):
        environment[found[1]] = next(one for one in found.groups()[1:] if one)
        left = left[found.end() :]
    if (given := _INPUT.search(left)) and not stdin:
        left, stdin = left[: given.start()], f"{_first(given)}\n"
    return {"command": left, "environment": environment, "stdin": stdin}


def _first(found: re.Match[str]) -> str:
    return next(one for one in found.groups() if one)


def _request(command: str) -> Mapping[str, JSON] | None:
    """What a plain curl asks for; None for any other command."""
    try:
        words = iter(shlex.split(command))
    except ValueError:
        return None
    if next(words, "") != "curl" or re.search(r"[$`\\\n|;&<>]", re.sub(r"'[^']*'", "", command)):
        return None
    url, method, body, headers = "", "", "", dict[str, JSON]()
    for word in words:
        if word in ("-H", "--header"):
            name, sign, value = next(words, "").partition(":")
            if not sign:
                return None
            headers[name.strip()] = value.strip()
        elif word in ("-X", "--request"):
            method = next(words, "")
        elif word in ("-d", "--data", "--data-raw", "--json"):
            body = next(words, "")
            kind = "application/json" if word == "--json" else "application/x-www-form-urlencoded"
            headers.setdefault("Content-Type", kind)
        elif not word.startswith("-") and not url:
            url = word
        elif word not in _QUIET:
            return None
    if not url or body.startswith("@"):
        return None
    return {"url": url, "method": method or ("POST" if body else "GET"), "headers": headers, "body": body}
