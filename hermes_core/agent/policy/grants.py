"""What a person's lasting yes covers: the narrowest rule that is still of use, and the words for it.

A rule never reaches further than its words say: another program, a path outside its folder, another host, an effect
that the first call did not have need a yes of their own. How far it may reach for a command is what guards say of it.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

from attrs import asdict, evolve

from hermes_closed.closed import vital_place
from hermes_core.agent.policy.rules import subject_of
from hermes_core.kinds import Tool, Workspace
from hermes_core.types import CommandPart, Effect, Feature, ToolCall
from hermes_core.values import frozen

__all__ = ["Case", "LastingOffer", "Rule", "covered", "offer"]

_COMMAND = ("command", "cmd", "script")
_FOLDERS = ("workdir", "cwd")
_WRITES = frozenset({Effect.WRITE_FILES, Effect.READ_FILES})
_LONGEST = 8_000  # characters of a rule


@frozen(kw_only=True)
class Rule:
    """One thing that is allowed. ``kind``: run (a family of commands), exact (one plain command), text (a whole command
    line), write (files below a folder), file, open (a host), call (a tool with these arguments), despite (the same, in
    a tainted conversation).

    ``machine`` is the backend whose paths and programs are meant; ``effects`` the most a call may have.
    """

    kind: str
    effects: tuple[str, ...]
    machine: str = ""
    folder: str = ""
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    rest: str = ""

    def text(self) -> str:
        """Return the rule as it is stored; equal rules have equal texts."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @staticmethod
    @lru_cache(maxsize=1024)
    def read(text: str) -> "Rule | None":
        """Read a stored rule; None when it is not one of ours."""
        try:
            raw = json.loads(text)
            fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}
            return Rule(**fields)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


@frozen(kw_only=True)
class Case:
    """A call as rules see it: ``effects`` are what it does, ``folder`` is where its command begins.

    ``own`` tells of a real path whether it is code that Hermes runs; ``commands`` and ``lasting`` are a guard's word.
    ``wall``: whether it runs inside the workspace's wall (True) or crosses it (False); None where nothing was said.
    """

    call: ToolCall
    tool: Tool
    effects: frozenset[Effect]
    keys: Sequence[str]
    workspace: Workspace
    machine: str
    own: Callable[[str], bool] = lambda path: False
    commands: Sequence[CommandPart] = ()
    lasting: bool = False
    wall: bool | None = None

    @property
    def places(self) -> list[str]:
        """The files it touches, as it names them."""
        return [key[5:] for key in self.keys if key.startswith("file:")]

    @cached_property
    def command(self) -> str | None:
        """The shell command it would run."""
        if Effect.EXECUTE not in self.tool.effects:
            return None
        found = (self.call.arguments.get(name) for name in _COMMAND)
        return next((value for value in found if isinstance(value, str)), None)

    @property
    def parts(self) -> list[CommandPart]:
        """The parts of its command that are granted each by itself; none for one that is granted whole."""
        return [part for part in self.commands if part.words]

    @cached_property
    def folder(self) -> str:
        """The folder its command begins in."""
        for name in _FOLDERS:
            if isinstance(value := self.call.arguments.get(name), str) and value:
                return self.path(value, self.workspace.cwd)
        return self.path("", self.workspace.shell_cwd or self.workspace.cwd)

    @cached_property
    def rest(self) -> str:
        """All arguments that are neither the command, its folder nor a number."""
        left = {
            name: value
            for name, value in self.call.arguments.items()
            if name not in (*_COMMAND, *_FOLDERS, "wall")
            and (isinstance(value, bool) or not isinstance(value, int | float))
        }
        left |= {"wall": "none"} if self.wall is False else {}
        return json.dumps(left, sort_keys=True, ensure_ascii=False) if any(left.values()) else ""

    def path(self, word: str, folder: str) -> str:
        """Return a path as it is, links followed where this machine can tell."""
        joined = os.path.normpath(os.path.join(folder or "/", os.path.expanduser(word)))  # noqa: PTH111, PTH118
        try:
            return os.path.realpath(joined) if Feature.LOCAL in self.workspace.features else joined
        except (OSError, ValueError):
            return joined


@frozen(kw_only=True)
class LastingOffer:
    """What a lasting yes would cover: ``rules``, each with its words and folder.

    ``always``: for good, if the person wants so, and not only for a conversation.
    """

    rules: tuple[tuple[Rule, str, str], ...] = ()
    always: bool = True

    @property
    def words(self) -> str:
        """All of it, in words."""
        return "; ".join(words for _, words, _ in self.rules)

    @property
    def choices(self) -> tuple[str, ...]:
        """What a person can be case to choose from."""
        lasting = ("session", "always") if self.always else ("session",)
        return ("once", *(lasting if self.rules else ()), "deny")


_NOTHING = LastingOffer()


def offer(case: Case) -> LastingOffer:
    """Return what a lasting yes to this call would cover."""
    found = _offered(case)
    return _NOTHING if any(len(rule.text()) > _LONGEST for rule, _, _ in found.rules) else found


def despite(case: Case) -> LastingOffer:
    """Return what a yes covers that was given to a tainted conversation: this very call, and only until it ends."""
    rule = evolve(_exact_call(case), kind="despite")
    words = f"exactly {case.tool.name}({_short(subject_of(case.call))}), in this conversation"
    return LastingOffer(rules=((rule, words, rule.folder),), always=False)


def covered(case: Case, rules: Iterable[Rule]) -> bool:
    """Tell whether rules allow a call: of a line of commands each single one."""
    effects = {effect.value for effect in case.effects}
    able = [r for r in rules if effects <= set(r.effects) and r.machine in ("", case.machine)]
    return bool(able) and _covered(case, able)


def _covered(case: Case, rules: Sequence[Rule]) -> bool:
    if _exact_call(case) in rules:
        return True
    if (command := case.command) is not None:
        if not case.parts:
            return _text(case, command) in rules
        return all(any(_runs(rule, part, case) for rule in rules) for part in case.parts)
    if (places := _places(case)) is not None:
        return all(any(_writes(rule, place) for rule in rules) for place in places)
    if (hosts := _hosts(case)) is not None:
        return all(any(rule.kind == "open" and rule.words == (host,) for rule in rules) for host in hosts)
    return False


def _offered(case: Case) -> LastingOffer:
    if (command := case.command) is not None:
        if not case.parts:
            whole = (_text(case, command), f"exactly `{_short(command)}`{_where(case.folder, case)}", case.folder)
            return LastingOffer(rules=(whole,), always=case.lasting)
        made = {rule: (rule, words, folder) for rule, words, folder in (_of(part, case) for part in case.parts)}
        return LastingOffer(rules=tuple(made.values()), always=case.lasting)
    if (places := _places(case)) is not None:
        return LastingOffer(rules=tuple(_to_write(place, case) for place in dict.fromkeys(places)))
    if (hosts := _hosts(case)) is not None:
        return LastingOffer(rules=tuple((_rule("open", case, words=(host,)), f"open {host}", "") for host in hosts))
    lasting = not case.effects & {Effect.SEND, Effect.CONFIGURE, Effect.SCHEDULE, Effect.EXECUTE}
    rule = _exact_call(case)
    words = f"exactly {case.tool.name}({_short(subject_of(case.call))})"
    return LastingOffer(rules=((rule, words, rule.folder),), always=lasting)


def _rule(kind: str, case: Case, **fields: object) -> Rule:
    effects = tuple(sorted(effect.value for effect in case.effects))
    machine = "" if kind in ("open", "call") else case.machine
    return Rule(kind=kind, effects=effects, machine=machine, **fields)  # type: ignore[arg-type]


def _exact_call(case: Case) -> Rule:
    said = json.dumps(dict(case.call.arguments), sort_keys=True, ensure_ascii=False, default=str)
    local = Effect.EXECUTE in case.effects or any(key.startswith("file:") for key in case.keys)
    folder = case.folder if local else ""  # what relative paths in its arguments begin at
    return _rule("call", case, words=(case.tool.name, said), folder=folder)


# --- commands -------------------------------------------------------------------------------------------------------


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:160]}…"


def _where(folder: str, case: Case) -> str:
    machine = "" if Feature.LOCAL in case.workspace.features else f" ({case.machine})" if case.machine else ""
    return f" in {folder}{machine}"


def _text(case: Case, command: str) -> Rule:
    return _rule("text", case, words=(command,), folder=case.folder, rest=case.rest)


def _of(part: CommandPart, case: Case) -> tuple[Rule, str, str]:
    """Return the rule of one part of a command, its words, its folder."""
    if not _is_family(part, part.folder) or vital_place(part.folder, "/"):
        rule = _rule("exact", case, words=part.words, folder=part.folder, rest=case.rest)
        said = " ".join(w if re.fullmatch(r"[\w@%+=:,./-]+", w, re.ASCII) else f"'{w}'" for w in part.words)
        return rule, f"exactly `{_short(said)}`{_where(part.folder, case)}", part.folder
    rule = _rule("run", case, words=part.family, options=part.options, folder=part.folder, rest=case.rest)
    return rule, f"`{part.covers}`{_where(part.folder, case)}", part.folder


def _runs(rule: Rule, part: CommandPart, case: Case) -> bool:
    """Tell whether a rule allows one part of a command."""
    if rule.rest != case.rest:
        return False
    if rule.kind == "exact":
        return (rule.words, rule.folder) == (part.words, part.folder)
    if rule.kind != "run" or not _within(part.folder, rule.folder) or not _is_family(part, rule.folder):
        return False
    return part.family == rule.words and set(part.options) <= set(rule.options)


def _is_family(part: CommandPart, folder: str) -> bool:
    """Tell whether a part is one of a family, and means no path outside of the folder."""
    return bool(part.family) and all(_within(place, folder) for place in part.places)


# --- files and hosts ------------------------------------------------------------------------------------------------


def _places(case: Case) -> list[str] | None:
    """Return the files a call writes, when that is all it does."""
    if Effect.WRITE_FILES not in case.effects or not case.effects <= _WRITES or not case.keys:
        return None
    if not all(key.startswith("file:") for key in case.keys):
        return None
    return [case.path(key[5:], case.workspace.cwd) for key in case.keys]


def _to_write(place: str, case: Case) -> tuple[Rule, str, str]:
    folder = os.path.dirname(place)  # noqa: PTH120 - may be a path of another machine
    where = "" if Feature.LOCAL in case.workspace.features else f" ({case.machine})"
    if _too_wide(folder):
        return _rule("file", case, folder=place), f"write {place}{where}", folder
    return _rule("write", case, folder=folder), f"write files in {folder}{where}", folder


def _too_wide(folder: str) -> bool:
    """Tell whether a yes to all files of a folder says more than anybody means: the home, what holds it, settings."""
    parts = folder.split("/")
    return folder.count("/") < 2 or bool(vital_place(folder, "/")) or any(part.startswith(".") for part in parts)


def _writes(rule: Rule, place: str) -> bool:
    if rule.kind == "file":
        return place == rule.folder
    return rule.kind == "write" and place != rule.folder and _within(place, rule.folder)


def _within(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder.rstrip('/')}/"))


def _hosts(case: Case) -> list[str] | None:
    """Return the hosts a call opens, when that is all it does."""
    if case.effects != {Effect.NETWORK} or not case.keys:
        return None
    hosts = [key[5:] for key in case.keys if key.startswith("host:")]
    return hosts if len(hosts) == len(case.keys) else None
