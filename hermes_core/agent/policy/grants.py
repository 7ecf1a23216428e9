"""What a person's lasting yes covers: the narrowest rule that is still of use, and the words for it.

A rule never reaches further than its words say: another program, a path outside its folder, another host, an effect
that the first call did not have need a yes of their own. Only commands that say plainly what they run are generalised,
and of these only the few in ``_FAMILIES``; what carries code is remembered to the letter, and only for a conversation.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from attrs import asdict, evolve

from hermes_core.agent.policy.hardblocks import CODE, vital_place
from hermes_core.agent.policy.plainwords import Single, plain
from hermes_core.agent.policy.rules import subject_of
from hermes_core.kinds import Tool, Workspace
from hermes_core.types import Effect, Feature, ToolCall
from hermes_core.values import frozen

__all__ = ["Case", "Offer", "Rule", "covered", "offer"]

_COMMAND = ("command", "cmd", "script")
_FOLDERS = ("workdir", "cwd")
_WRITES = frozenset({Effect.WRITE_FILES, Effect.READ_FILES})
# Programs whose words are code, or name another program: remembered to the letter, and not for good.
_CARRIERS = re.compile(
    r"(busybox|toybox|sudo|doas|su|runuser|pkexec|env|nice|ionice|timeout|stdbuf|nohup|setsid|command|exec|builtin|source"
    r"|\.|trap|alias|export|set|declare|find|fd|watch|script|ssh|mosh|scp|rsync|tmux|screen|at|batch|crontab|chroot|unshare"
    r"|nsenter|flock|strace|less|man|npx|pnpx|bunx|uvx|pipx|hermes)$"
)
# program and subcommand -> how many names behind it are fixed; all further plain names may be others
_FAMILIES = {
    "git": {
        "add": 0, "branch": 0, "cherry-pick": 0, "commit": 0, "diff": 0, "fetch": 1, "log": 0, "merge": 0, "pull": 1,
        "push": 1, "revert": 0, "show": 0, "stash": 1, "status": 0, "switch": 0, "tag": 0,
    },
    "docker": {"images": 0, "inspect": 0, "logs": 0, "ps": 0, "restart": 0, "start": 0, "stop": 0},
    "kubectl": {"describe": 1, "get": 1, "logs": 0},
    "systemctl": {"status": 0},
}  # fmt: skip
_SAYS = {("git", "commit"): ("-m", "-am", "--message"), ("git", "tag"): ("-m",)}  # options before free text
_NAME = re.compile(r"[A-Za-z0-9_.][\w.@+/=-]*", re.ASCII)
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
        """The rule as it is stored; equal rules have equal texts."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @staticmethod
    @lru_cache(maxsize=1024)
    def read(text: str) -> "Rule | None":
        """A stored rule; None when it is not one of ours."""
        try:
            raw = json.loads(text)
            fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}
            return Rule(**fields)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


@frozen(kw_only=True)
class Case:
    """A call as rules see it: ``effects`` are what it does, ``folder`` is where its command begins.

    ``own`` tells of a real path whether it is code that Hermes runs.
    """

    call: ToolCall
    tool: Tool
    effects: frozenset[Effect]
    keys: Sequence[str]
    workspace: Workspace
    machine: str
    own: Callable[[str], bool] = lambda path: False

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
            if name not in (*_COMMAND, *_FOLDERS) and (isinstance(value, bool) or not isinstance(value, int | float))
        }
        return json.dumps(left, sort_keys=True, ensure_ascii=False) if any(left.values()) else ""

    def path(self, word: str, folder: str) -> str:
        """A path as it is, links followed where this machine can tell."""
        joined = os.path.normpath(os.path.join(folder or "/", os.path.expanduser(word)))  # noqa: PTH111, PTH118
        try:
            return os.path.realpath(joined) if Feature.LOCAL in self.workspace.features else joined
        except (OSError, ValueError):
            return joined


@frozen(kw_only=True)
class Offer:
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


_NOTHING = Offer()
_Family: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bool]  # fixed words, options, whether more may follow


def offer(case: Case) -> Offer:
    """What a lasting yes to this call would cover."""
    found = _offered(case)
    return _NOTHING if any(len(rule.text()) > _LONGEST for rule, _, _ in found.rules) else found


def despite(case: Case) -> Offer:
    """What a yes covers that was given to a tainted conversation: this very call, and only until it ends."""
    rule = evolve(_exact_call(case), kind="despite")
    words = f"exactly {case.tool.name}({_short(subject_of(case.call))}), in this conversation"
    return Offer(rules=((rule, words, rule.folder),), always=False)


def covered(case: Case, rules: Iterable[Rule]) -> bool:
    """Whether rules allow a call: of a line of commands each single one."""
    effects = {effect.value for effect in case.effects}
    able = [r for r in rules if effects <= set(r.effects) and r.machine in ("", case.machine)]
    return bool(able) and _covered(case, able)


def _covered(case: Case, rules: Sequence[Rule]) -> bool:
    if _exact_call(case) in rules:
        return True
    if (command := case.command) is not None:
        singles = _steps(command, case)
        if singles is None:
            return _text(case, command) in rules
        return bool(singles) and all(any(_runs(rule, s, f, case) for rule in rules) for s, f in singles)
    if (places := _places(case)) is not None:
        return all(any(_writes(rule, place) for rule in rules) for place in places)
    if (hosts := _hosts(case)) is not None:
        return all(any(rule.kind == "open" and rule.words == (host,) for rule in rules) for host in hosts)
    return False


def _offered(case: Case) -> Offer:
    if (command := case.command) is not None:
        singles = _steps(command, case)
        if singles is None:
            lasting = plain(command) is not None and not _carries(command)
            return Offer(rules=((_text(case, command), _to_the_letter(command, case), case.folder),), always=lasting)
        made = {rule: (rule, words, folder) for rule, words, folder in (_of(s, f, case) for s, f in singles)}
        return Offer(rules=tuple(made.values()))
    if (places := _places(case)) is not None:
        return Offer(rules=tuple(_to_write(place, case) for place in dict.fromkeys(places)))
    if (hosts := _hosts(case)) is not None:
        return Offer(rules=tuple((_rule("open", case, words=(host,)), f"open {host}", "") for host in hosts))
    lasting = not case.effects & {Effect.SEND, Effect.CONFIGURE, Effect.SCHEDULE, Effect.EXECUTE}
    rule = _exact_call(case)
    words = f"exactly {case.tool.name}({_short(subject_of(case.call))})"
    return Offer(rules=((rule, words, rule.folder),), always=lasting)


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


def _steps(command: str, case: Case) -> list[tuple[Single, str]] | None:
    """The single commands of a plain line, each with the folder it runs in; None for a line that is only known whole.

    ``cd FOLDER &&`` at the start is no command of its own: it is where the others run. What is piped into a command is
    part of what it does, and what carries code does what the code says: such lines stay whole.
    """
    singles = plain(command)
    if singles is None or _carries(command) or any(single.after == "|" for single in singles):
        return None
    folder = case.folder
    while singles[0].words[0] == "cd" and singles[0].after == "&&":
        words = singles[0].words
        if len(words) != 2 or words[1].startswith("-"):
            return None
        folder = case.path(words[1], folder)
        singles = singles[1:]
    if any(single.words[0] in ("cd", "pushd", "popd") for single in singles):
        return None
    return [(single, folder) for single in singles]


def _carries(command: str) -> bool:
    """Whether a plain line runs a program whose words are code, or a file that can say something else by then."""
    programs = [single.words[0] for single in plain(command) or ()]
    return any("/" in program or _CARRIERS.match(program) or CODE.match(program) for program in programs)


def _to_the_letter(command: str, case: Case) -> str:
    return f"exactly `{_short(command)}`{_where(case.folder, case)}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:160]}…"


def _where(folder: str, case: Case) -> str:
    machine = "" if Feature.LOCAL in case.workspace.features else f" ({case.machine})" if case.machine else ""
    return f" in {folder}{machine}"


def _text(case: Case, command: str) -> Rule:
    return _rule("text", case, words=(command,), folder=case.folder, rest=case.rest)


def _of(single: Single, folder: str, case: Case) -> tuple[Rule, str, str]:
    """The rule of one plain command, its words, its folder."""
    parsed = _family(single, folder, folder, case)
    if parsed is None or vital_place(folder, "/"):
        rule = _rule("exact", case, words=single.words, folder=folder, rest=case.rest)
        return rule, f"exactly `{_short(_spelled(single.words))}`{_where(folder, case)}", folder
    head, options, more = parsed
    rule = _rule("run", case, words=head, options=options, folder=folder, rest=case.rest)
    shown = " ".join((*head[:2], *options, *head[2:], *(("…",) if more else ())))
    return rule, f"`{shown}`{_where(folder, case)}", folder


def _spelled(words: Sequence[str]) -> str:
    return " ".join(word if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII) else f"'{word}'" for word in words)


def _runs(rule: Rule, single: Single, folder: str, case: Case) -> bool:
    """Whether a rule allows one plain command."""
    if rule.rest != case.rest:
        return False
    if rule.kind == "exact":
        return (rule.words, rule.folder) == (single.words, folder)
    if rule.kind != "run" or not _within(folder, rule.folder):
        return False
    parsed = _family(single, folder, rule.folder, case)
    return parsed is not None and parsed[0] == rule.words and set(parsed[1]) <= set(rule.options)


def _family(single: Single, folder: str, root: str, case: Case) -> "_Family | None":
    """A command as one of a family: its fixed words, its options, and whether other names may follow the fixed ones.

    None for what is none, or names something outside of ``root``.
    """
    program, *words = single.words
    if not words or words[0] not in _FAMILIES.get(program, ()):
        return None
    sub, *words = words
    fixed = _FAMILIES[program][sub]
    options, names = list[str](), list[str]()
    says = _SAYS.get((program, sub), ())
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            options.append(word)
            if word in says and next(rest, None) is None:
                return None
        elif not _NAME.fullmatch(word) or not _within(case.path(word, folder), root):
            return None
        else:
            names.append(word)
    more = not fixed or len(names) >= fixed
    return (program, sub, *names[:fixed]), tuple(sorted(set(options))), more


# --- files and hosts ------------------------------------------------------------------------------------------------


def _places(case: Case) -> list[str] | None:
    """The files a call writes, when that is all it does."""
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
    """Whether a yes to all files of a folder says more than anybody means: the home, what holds it, settings."""
    parts = folder.split("/")
    return folder.count("/") < 2 or bool(vital_place(folder, "/")) or any(part.startswith(".") for part in parts)


def _writes(rule: Rule, place: str) -> bool:
    if rule.kind == "file":
        return place == rule.folder
    return rule.kind == "write" and place != rule.folder and _within(place, rule.folder)


def _within(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder.rstrip('/')}/"))


def _hosts(case: Case) -> list[str] | None:
    """The hosts a call opens, when that is all it does."""
    if case.effects != {Effect.NETWORK} or not case.keys:
        return None
    hosts = [key[5:] for key in case.keys if key.startswith("host:")]
    return hosts if len(hosts) == len(case.keys) else None
