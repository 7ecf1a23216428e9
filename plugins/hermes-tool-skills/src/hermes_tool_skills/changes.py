"""What the agent changes: held against format and scan, then made, or kept for a person to decide."""

from attrs import evolve

from hermes_core.errors import ToolError, UserError
from hermes_core.values import frozen
from hermes_tool_skills.catalogue import Catalogue, Skill
from hermes_tool_skills.draft import Action, Draft, edited, usable
from hermes_tool_skills.frontmatter import name_problem
from hermes_tool_skills.library import Change, Library
from hermes_tool_skills.lock import Entry
from hermes_tool_skills.pending import propose
from hermes_tool_skills.tree import Tree, digest, hashes

_KINDS = {"shipped": "comes with Hermes", "plugin": "belongs to a plugin", "external": "lies in a folder of the person"}


@frozen(kw_only=True)
class Plan:
    """A change that could be made now. ``draft`` is None to delete; ``entry`` is what is there, if anything."""

    name: str
    action: Action
    entry: Entry | None
    draft: Draft | None

    @property
    def base(self) -> str:
        """The state it was made from."""
        return self.entry.digest if self.entry else ""

    @property
    def verdict(self) -> str:
        """What the scan says of the result."""
        return self.draft.report.verdict if self.draft else "safe"


def plan(
    catalogue: Catalogue, action: Action, name: str, *, path: str = "", content: str = "", old: str = "", new: str = ""
) -> Plan:
    """Work out a change of a model's. Raises ToolError that says what to do instead."""
    if problem := name_problem(name):
        raise ToolError(f"The name {name[:80]!r} {problem}.")
    skills = {s.name: s for s in catalogue.all() if s.state != "shadowed"}
    known = [other for other in skills if other != name]
    if action == "create":
        if name in skills:
            raise ToolError(f"There is a skill {name} already.", hint="Read it with skill_view and patch it.")
        tree = edited({}, action, path=path, content=content, old=old, new=new)
        return Plan(name=name, action=action, entry=None, draft=usable(tree, name=name, known=known))
    if name not in skills:
        raise ToolError(f"There is no skill {name}.", hint="skill_view without a name lists them.")
    entry = _writable(skills[name], action)
    if action == "delete":
        return Plan(name=name, action=action, entry=entry, draft=None)
    tree = edited(catalogue.library.live(name), action, path=path, content=content, old=old, new=new)
    if digest(hashes(tree)) == entry.digest:
        raise ToolError("That would change nothing.")
    return Plan(name=name, action=action, entry=entry, draft=usable(tree, name=name, known=known))


def _writable(skill: Skill, action: Action) -> Entry:
    own = "Make one of your own with create, and say there what is different."
    if skill.source in _KINDS:
        raise ToolError(f"{skill.name} {_KINDS[skill.source]} and is not changed.", hint=own)
    if skill.state not in ("ready", "disabled") or skill.entry is None:
        raise ToolError(f"{skill.name} cannot be changed now: {skill.reason}.", hint=f"A person can: {skill.fix}")
    if skill.source == "installed":
        raise ToolError(f"{skill.name} was installed and is not changed.", hint=own)
    if action == "delete" and skill.entry.pinned:
        raise ToolError(f"{skill.name} is pinned by the person and is not deleted.", retry=False)
    return skill.entry


def staged(wanted: Plan, *, approve: bool) -> bool:
    """Whether a person decides first: by the setting, and always for what the person wrote."""
    return approve or bool(wanted.entry and wanted.entry.origin == "person")


def keep(library: Library, wanted: Plan, change: Change) -> str:
    """Keep a change for a person. Returns what the model should know. Raises UserError, OSError."""
    tree = wanted.draft.tree if wanted.draft else None
    with library.held():
        one = propose(
            library, wanted.name, wanted.action, tree, base=wanted.base, why=change.why, session=change.session,
            verdict=wanted.verdict,
        )  # fmt: skip
    return (
        f"The change of {wanted.name} waits for a person as {one.id}; nothing is changed yet. "
        f"They decide with: hermes skills approve {one.id}"
    )


def make(library: Library, wanted: Plan, change: Change) -> Entry | None:
    """Make a change. Returns the new entry, or None when it deleted. Raises UserError when the skill moved on."""
    with library.held():
        entry = library.lock_held().get(wanted.name)
        if (entry.digest if entry else "") != wanted.base:
            raise UserError(f"{wanted.name} was changed meanwhile.", hint="Look at it again, then change it.")
        if entry and not _same(library, entry):
            raise UserError(f"The files of {wanted.name} were changed by hand.", hint="A person accepts them first.")
        if wanted.draft is None:
            if entry is None:
                raise UserError(f"There is no skill {wanted.name}.")
            if entry.pinned:
                raise UserError(f"{wanted.name} is pinned.", hint=f"hermes skills pin {wanted.name} --off")
            library.remove(entry, change)
            return None
        if entry is None and library.place(wanted.name).exists():
            raise UserError(f"There is a folder {library.place(wanted.name)} that nobody accepted.")
        report = wanted.draft.report
        fresh = entry or Entry(name=wanted.name, origin="agent", version=0, files={})
        found = tuple(sorted({f.rule for f in report.findings}))
        fresh = evolve(fresh, verdict=report.verdict, findings=found, who=change.by)
        return library.commit(fresh, wanted.draft.tree, change)


def _same(library: Library, entry: Entry) -> bool:
    try:
        tree: Tree = library.live(entry.name)
    except (OSError, UserError):
        return False
    return digest(hashes(tree)) == entry.digest
