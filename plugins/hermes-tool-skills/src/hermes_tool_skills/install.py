"""From a source to a skill that a person accepted: fetch, unpack, check, scan, show, ask, keep; never enable."""

import getpass
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from hermes_atomic.processes import is_running
from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_tool_skills.catalogue import Catalogue
from hermes_tool_skills.disk import drop_folder
from hermes_tool_skills.draft import Draft, checked
from hermes_tool_skills.fetch import Fetched, fetch
from hermes_tool_skills.library import Change, Library
from hermes_tool_skills.lock import Entry
from hermes_tool_skills.tree import Tree, hashes
from hermes_tool_skills.trust import Decision, Trust, decide, trust_of


@frozen(kw_only=True)
class Candidate:
    """A skill that could be installed now: what it is, what stands in the way, what it would replace."""

    draft: Draft
    source: str
    resolved: str
    trust: Trust
    decision: Decision
    entry: Entry | None
    before: Tree

    @property
    def name(self) -> str:
        """The name it gives itself."""
        return self.draft.head.name

    @property
    def files(self) -> Mapping[str, str]:
        """The hash of every file."""
        return hashes(self.draft.tree)


def candidate(
    catalogue: Catalogue,
    source: str,
    *,
    archives: str,
    trusted: Sequence[str],
    force: bool,
    sources: Sequence[str] = (),
) -> Candidate:
    """Fetch and look at a skill. Nothing of it is kept. Raises UserError when it cannot be one, or not under its name.

    ``source`` may be the name of an installed skill: then its own source is asked again.
    """
    skills = {s.name: s for s in catalogue.all() if s.state != "shadowed"}
    known = skills.get(source)
    if known and known.source == "installed" and known.entry and not Path(source).exists():
        source = known.entry.source.removeprefix("https://github.com/") if _short(known.entry) else known.entry.source
    with quarantine(catalogue.library) as scratch:
        got = fetch(source, archives=archives, scratch=scratch, sources=sources)
    others = [name for name, s in skills.items() if not (s.source == "installed" and _same(s.entry, got))]
    draft = checked(got.tree, known=others, foreign=True)
    name = draft.head.name
    there = skills.get(name)
    if there and there.source != "installed":
        kind = {"agent": "the agent wrote", "person": "is your own"}.get(there.source, f"is {there.source}")
        hint = f"hermes skills remove {name}   first, if you want this one instead."
        raise UserError(f"There is a skill {name} already, and it {kind}.", hint=hint if there.managed else "")
    entry = there.entry if there else None
    if entry and not _same(entry, got):
        raise UserError(
            f"{name} was installed from {entry.source}, and this one is from {got.source}.",
            hint=f"A name does not pass to another owner. If you trust the new one: hermes skills remove {name}",
        )
    trust = trust_of(got.source, trusted)
    decision = decide(trust, draft.report.verdict, force=force)
    before = catalogue.library.version(name, entry.version)[1] if entry else {}
    return Candidate(
        draft=draft,
        source=got.source,
        resolved=got.resolved,
        trust=trust,
        decision=decision,
        entry=entry,
        before=before,
    )


def install(library: Library, one: Candidate, *, forced: bool = False) -> Entry:
    """Keep a candidate that a person said yes to; it is not enabled. Raises UserError when the skill moved on."""
    if one.decision == "block":
        raise UserError(f"{one.name} is not installed: the scan says {one.draft.report.verdict}.")
    with library.held():
        entry = library.lock_held().get(one.name)
        if (entry.digest if entry else "") != (one.entry.digest if one.entry else ""):
            raise UserError(f"{one.name} was changed meanwhile.", hint="Install it again.")
        if entry is None and library.place(one.name).exists():
            raise UserError(f"There is a folder {library.place(one.name)} already.", hint="Move it away first.")
        found = tuple(sorted({f.rule for f in one.draft.report.findings}))
        fresh = Entry(
            name=one.name, origin="installed", version=0, files={}, enabled=False, source=one.source,
            resolved=one.resolved, verdict=one.draft.report.verdict, findings=found, who=person(),
            pinned=bool(entry and entry.pinned),
        )  # fmt: skip
        why = f"installed from {one.source}" + (" with --force" if forced else "")
        return library.commit(fresh, one.draft.tree, Change(by=person(), why=why))


def person() -> str:
    """Who runs this program."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())


@contextmanager
def quarantine(library: Library) -> Iterator[Path]:
    """A folder for what nobody looked at yet; gone afterwards, also what an earlier run left when it was killed."""
    root = library.data / "quarantine"
    for left in root.iterdir() if root.is_dir() else ():
        if not _alive(left.name):
            drop_folder(left)
    place = root / f"{os.getpid()}-{os.urandom(4).hex()}"
    place.mkdir(mode=0o700, parents=True)
    try:
        yield place
    finally:
        drop_folder(place)


def _alive(name: str) -> bool:
    pid = name.partition("-")[0]
    return pid.isdigit() and is_running(int(pid))


def _same(entry: Entry | None, got: Fetched) -> bool:
    return bool(entry) and entry is not None and entry.source.partition("@")[0] == got.source.partition("@")[0]


def _short(entry: Entry) -> bool:
    """Whether it was named as OWNER/REPOSITORY: such a source is fetched as an archive again."""
    return (
        entry.source.startswith("https://github.com/") and "#" not in entry.source and not entry.source.endswith(".git")
    )
