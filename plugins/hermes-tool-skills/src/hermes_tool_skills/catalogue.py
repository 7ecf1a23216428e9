"""All skills there are, from every source, and what stands in the way of each one that cannot be used.

Reading a skill's files is remembered by a signature of their stats, in memory and in one small cache file: a start
that finds nothing changed reads no skill.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Principal, Session
from hermes_core.values import frozen
from hermes_tool_kit.provenance.notes import root_of, skill_folders
from hermes_tool_skills.frontmatter import BadSkill, Head, from_plain, name_problem, parse, to_plain
from hermes_tool_skills.library import Library
from hermes_tool_skills.lock import BadLock, Entry, Lock
from hermes_tool_skills.tree import MAIN, BadTree, walk

Source: TypeAlias = Literal["installed", "agent", "person", "external", "plugin", "shipped", "project"]
State: TypeAlias = Literal["ready", "disabled", "new", "changed", "missing", "broken", "blocked", "shadowed"]
_CACHE = 4  # of the cache file's form
_SHARED = "~/.agents/skills"  # where agents of every make look, https://agentskills.io/client-implementation
_OURS = "skills"  # the name of this plugin; its skills have no prefix


@frozen(kw_only=True)
class Skill:
    """One skill as the person and the model call it. ``reason`` and ``fix`` say why it is not ``ready``."""

    name: str
    source: Source
    folder: Path
    state: State
    reason: str = ""
    fix: str = ""
    head: Head | None = None
    entry: Entry | None = None
    verdict: str = ""
    digest: str = ""

    @property
    def description(self) -> str:
        """What it is for."""
        return self.head.description if self.head else ""

    @property
    def managed(self) -> bool:
        """Whether it lies in the home's own folder of skills."""
        return self.source in ("installed", "agent", "person")


@frozen(kw_only=True)
class Seen:
    """What reading a folder gave."""

    signature: str
    problem: str = ""
    head: Head | None = None
    digest: str = ""
    verdict: str = ""


class Catalogue:
    """The skills of one kernel."""

    def __init__(self, ctx: PluginContext) -> None:
        self.library = Library.of(ctx)
        self._config = ctx.config
        self._folders, self._home = tuple(ctx.paths.skills), ctx.paths.home
        self._cache_file = ctx.paths.cache / "skills.json"
        self._seen: dict[str, Seen] | None = None
        self._dirty = False
        self.problem = ""  # why the lock cannot be read

    def all(self, folder: str = "", owner: Principal = Principal()) -> list[Skill]:  # noqa: B008 - it is frozen
        """Every skill, sorted by name; of two with one name the later source is ``shadowed``.

        With the ``folder`` that somebody works in also those of its project, where the folder is known.
        """
        found: dict[str, Skill] = {}
        shadowed: list[Skill] = []
        try:
            lock, self.problem = self.library.lock(), ""
        except BadLock as error:
            lock, self.problem = Lock(), error.text
        of_project = self._of_project(lock, folder, owner)
        for skill in (*self._own(lock), *self._external(lock), *self._of_plugins(lock), *of_project):
            first = found.setdefault(skill.name, skill)
            if first is not skill:
                reason = f"{first.folder} has the same name and comes first"
                shadowed.append(evolve(skill, state="shadowed", reason=reason, fix="Rename one of them."))
        self._keep()
        return sorted((*found.values(), *shadowed), key=lambda s: (s.name, s.state == "shadowed"))

    def seen_by(self, session: Session) -> list[Skill]:
        """Every skill there is for a session: those of its folder's project too, where that is on this machine."""
        return self.all(session.cwd if session.backend in ("", "local", "bubblewrap") else "", session.owner)

    def get(self, name: str) -> Skill:
        """The skill of a name, in whatever state. Raises UnknownName."""
        skills = {s.name: s for s in self.all() if s.state != "shadowed"}
        if name not in skills:
            raise UnknownName("skill", name, skills, hint="hermes skills list")
        return skills[name]

    def off(self, origin: str) -> tuple[str, ...]:
        """The names that are switched off for one way in."""
        return tuple(self._config.platform_disabled.get(origin, ()))

    def look(self, folder: Path, *, scanned: bool = False) -> Seen:
        """What is in a skill's folder, from the cache when its files' stats are what they were."""
        cache = self._cache()
        key = str(folder)
        try:
            signature = _signature(folder, scanned=scanned)
        except (BadTree, OSError) as error:
            return Seen(signature="", problem=str(getattr(error, "text", error)))
        if key in cache and cache[key].signature == signature:
            return cache[key]
        cache[key] = seen = _read(folder, signature, scanned=scanned)
        self._dirty = True
        return seen

    # --- sources ------------------------------------------------------------------------------------------------------

    def _own(self, lock: Lock) -> Iterator[Skill]:
        names = {e.name for e in lock.entries.values() if e.stage != "gone"}
        for name in sorted({*_folders(self.library.folder), *names}):
            yield self._own_skill(name, lock.get(name))

    def _own_skill(self, name: str, entry: Entry | None) -> Skill:
        folder = self.library.place(name)
        accept = f"hermes skills enable {name}"
        skill = Skill(name=name, source=entry.origin if entry else "person", folder=folder, state="ready", entry=entry)
        if problem := name_problem(name):
            return evolve(skill, state="broken", reason=f"its folder's name {problem}", fix=f"Rename {folder}.")
        if folder.is_symlink() or not folder.is_dir():
            if not entry:
                return evolve(skill, state="broken", reason="it is a link, not a folder", fix=f"Copy it to {folder}.")
            fix = f"hermes skills rollback {name}   or: hermes skills remove {name}"
            return evolve(skill, state="missing", reason="its folder is gone", fix=fix)
        seen = self.look(folder)
        skill = evolve(skill, head=seen.head, digest=seen.digest, verdict=entry.verdict if entry else "")
        if entry and seen.digest != entry.digest:
            reason = "its files are not those that were accepted" + (f": {seen.problem}" if seen.problem else "")
            return evolve(skill, state="changed", reason=reason, fix=f"hermes skills diff {name}, then: {accept}")
        if seen.problem:
            return evolve(skill, state="broken", reason=seen.problem, fix=f"Mend {folder / MAIN}.")
        if self.problem:
            return evolve(skill, state="changed", reason=self.problem, fix=accept)
        if entry is None:
            return evolve(skill, state="new", reason="nobody has accepted it yet", fix=accept)
        if not entry.enabled:
            return evolve(skill, state="disabled", reason="it is not enabled", fix=accept)
        return self._switched(skill, Lock())

    def _external(self, lock: Lock) -> Iterator[Skill]:
        for root in (*self._config.external_dirs, _SHARED):
            for folder in _with_categories(Path(root).expanduser()):
                yield self._as_it_is(lock, folder, "external")

    def _of_project(self, lock: Lock, cwd: str, owner: Principal) -> Iterator[Skill]:
        """What a project brings: followed where a person said that the folder is known, and nothing in it is marked."""
        place = Path(cwd).resolve() if cwd else None
        roots = skill_folders(place, root_of(place, owner)) if place else []
        if not roots:
            return
        from hermes_tool_kit.provenance.ledger import Ledger

        ledger = Ledger(self._home, cwd)
        try:
            for folder in (one for root in roots if ledger.known(root) for one in _with_categories(root)):
                skill = self._as_it_is(lock, folder, "project")
                marks = ledger.marks_in(folder)
                if marks is None or marks or ledger.outside(folder):
                    reason, fix = "it holds text from outside", f"hermes trust add {folder}"
                    skill = evolve(skill, state="blocked", reason=reason, fix=fix)
                yield skill
        finally:
            ledger.close()

    def _as_it_is(self, lock: Lock, folder: Path, source: Source) -> Skill:
        """A skill that is used as somebody keeps it, as long as the scan does not find it dangerous."""
        seen = self.look(folder, scanned=True)
        skill = Skill(
            name=seen.head.name if seen.head else folder.name, source=source, folder=folder, state="ready",
            head=seen.head, digest=seen.digest, verdict=seen.verdict,
        )  # fmt: skip
        if seen.problem:
            return evolve(skill, state="broken", reason=seen.problem, fix=f"Mend {folder / MAIN}.")
        if seen.verdict == "dangerous":
            reason, fix = "the scan found it dangerous", f"hermes skills scan {folder}"
            return evolve(skill, state="blocked", reason=reason, fix=fix)
        return self._switched(skill, lock)

    def _of_plugins(self, lock: Lock) -> Iterator[Skill]:
        for plugin, root in self._folders:
            for name in _folders(root):
                folder = root / name
                if not (folder / MAIN).is_file():
                    continue
                seen, called = self.look(folder), name if plugin == _OURS else f"{plugin}:{name}"
                skill = Skill(
                    name=called, source="shipped" if plugin == _OURS else "plugin", folder=folder, state="ready",
                    head=seen.head, digest=seen.digest,
                )  # fmt: skip
                if seen.problem:
                    yield evolve(skill, state="broken", reason=seen.problem, fix=f"Tell the author of {plugin}.")
                else:
                    yield self._switched(skill, lock)

    def _switched(self, skill: Skill, lock: Lock) -> Skill:
        if skill.name in lock.disabled:
            fix = f"hermes skills enable {skill.name}"
            return evolve(skill, state="disabled", reason="it was switched off", fix=fix)
        if skill.name in self._config.disabled:
            reason, fix = "tools.skills.disabled names it", "hermes config edit"
            return evolve(skill, state="disabled", reason=reason, fix=fix)
        return skill

    # --- the cache ----------------------------------------------------------------------------------------------------

    def _cache(self) -> dict[str, Seen]:
        if self._seen is None:
            self._seen = {}
            with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                data = json.loads(self._cache_file.read_bytes())
                if data["form"] == _CACHE:
                    self._seen = {folder: _seen(row) for folder, row in data["skills"].items()}
        return self._seen

    def _keep(self) -> None:
        if not self._dirty or self._seen is None:
            return
        from hermes_tool_skills.disk import write_json

        rows = {
            folder: {
                "signature": s.signature, "problem": s.problem, "digest": s.digest, "verdict": s.verdict,
                "head": to_plain(s.head) if s.head else None,
            }
            for folder, s in self._seen.items()
            if Path(folder).is_dir()
        }  # fmt: skip
        with suppress(OSError):  # it is done without
            write_json(self._cache_file, {"form": _CACHE, "skills": rows})
        self._dirty = False


def _seen(row: Mapping[str, Any]) -> Seen:
    head = from_plain(row["head"]) if row["head"] else None
    return Seen(**{**row, "head": head})


def _folders(root: Path) -> list[str]:
    try:
        with os.scandir(root) as entries:
            return sorted(e.name for e in entries if not e.name.startswith(".") and (e.is_dir() or e.is_symlink()))
    except OSError:
        return []


def _with_categories(root: Path) -> Iterator[Path]:
    """The skills of a folder, and of the folders in it that only sort skills."""
    for name in _folders(root):
        if (root / name / MAIN).is_file():
            yield root / name
            continue
        yield from (root / name / inner for inner in _folders(root / name) if (root / name / inner / MAIN).is_file())


def _signature(folder: Path, *, scanned: bool) -> str:
    """Changes whenever a file does: the time of a change of the inode cannot be set back."""
    rows = [
        (path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino) for path, info in walk(folder)
    ]  # fmt: skip
    version: int | Literal[False] = False
    if scanned:
        from hermes_tool_skills.scan import VERSION

        version = VERSION
    return hashlib.sha256(repr((version, rows)).encode("utf-8", "surrogatepass")).hexdigest()


def _read(folder: Path, signature: str, *, scanned: bool) -> Seen:
    from hermes_tool_skills.tree import digest, hashes, read_tree, text_of

    try:
        tree = read_tree(folder)
    except (BadTree, OSError) as error:
        return Seen(signature=signature, problem=str(getattr(error, "text", error)))
    value = digest(hashes(tree))
    verdict = ""
    if scanned:
        from hermes_tool_skills.scan import scan

        verdict = scan(tree).verdict
    text = text_of(tree[MAIN]) if MAIN in tree else None
    if text is None:
        problem = f"{MAIN} is missing" if MAIN not in tree else f"{MAIN} is not UTF-8 text"
        return Seen(signature=signature, problem=problem, digest=value, verdict=verdict)
    try:
        head, _ = parse(text, folder=folder.name, foreign=True)
    except BadSkill as error:
        return Seen(signature=signature, problem=error.text, digest=value, verdict=verdict)
    return Seen(signature=signature, head=head, digest=value, verdict=verdict)


def catalogue_for(ctx: PluginContext) -> Catalogue:
    """The catalogue of a kernel, one and the same for all its hooks."""
    made: Catalogue | None = ctx.state.get("catalogue")
    if made is None:
        made = ctx.state["catalogue"] = Catalogue(ctx)
    return made
