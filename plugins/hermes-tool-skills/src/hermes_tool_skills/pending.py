"""Changes that wait for a person: each with the files it would leave and the state it was made from."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from attrs import asdict

from hermes_core.errors import UnknownName, UserError
from hermes_core.values import frozen
from hermes_tool_skills.disk import drop_folder, put_tree, write_json
from hermes_tool_skills.library import Library
from hermes_tool_skills.tree import BadTree, Tree, hashes, read_tree

MOST = 100
_ID = re.compile(r"[0-9a-f]{6}")


@frozen(kw_only=True)
class Proposal:
    """One change that waits. ``base`` is the digest of the skill it was made from, empty for a new skill."""

    id: str
    name: str
    action: str
    why: str
    session: str
    when: float
    base: str
    verdict: str


def propose(library: Library, name: str, action: str, tree: Tree | None, *, base: str, why: str, session: str, verdict: str) -> Proposal:  # fmt: skip # noqa: E501
    """Keep a change for a person; ``tree`` is None to delete. Raises UserError when too many wait, OSError."""
    if len(proposals(library)) >= MOST:
        raise UserError(f"{MOST} changes wait already.", hint="A person decides: hermes skills pending")
    one = Proposal(
        id=os.urandom(3).hex(), name=name, action=action, why=why, session=session, when=library.clock(),
        base=base, verdict=verdict,
    )  # fmt: skip
    place = _place(library, one.id)
    draft = place.with_name(f".{one.id}.new")
    put_tree(draft / "files", tree or {})
    write_json(draft / "hashes.json", hashes(tree) if tree is not None else None)
    write_json(draft / "proposal.json", asdict(one))
    draft.rename(place)
    return one


def proposals(library: Library) -> Sequence[Proposal]:
    """What waits, oldest first; what cannot be read is left out."""
    folder = library.data / "pending"
    found = []
    for place in folder.iterdir() if folder.is_dir() else ():
        if _ID.fullmatch(place.name):
            try:
                found.append(Proposal(**json.loads((place / "proposal.json").read_bytes())))
            except (OSError, ValueError, TypeError):
                continue
    return sorted(found, key=lambda p: (p.when, p.id))


def proposal(library: Library, wanted: str) -> tuple[Proposal, dict[str, bytes] | None]:
    """One that waits, by its id or the name of its skill, and its files; None to delete.

    Raises UnknownName, UserError when several wait for one skill or it is damaged.
    """
    found = [p for p in proposals(library) if wanted in (p.id, p.name)]
    if not found:
        raise UnknownName("change that waits", wanted, [p.id for p in proposals(library)], hint="hermes skills pending")
    if len(found) > 1:
        raise UserError(f"{len(found)} changes wait for {wanted}.", hint=f"Say which: {', '.join(p.id for p in found)}")
    place = _place(library, found[0].id)
    try:
        stored, tree = json.loads((place / "hashes.json").read_bytes()), read_tree(place / "files")
    except (OSError, ValueError, BadTree) as error:
        raise UserError(f"The change {found[0].id} cannot be read: {error}", hint="Reject it.") from None
    if stored is not None and stored != hashes(tree):
        raise UserError(f"The change {found[0].id} is not what was proposed.", hint="Reject it.")
    return found[0], None if stored is None else tree


def drop(library: Library, one: Proposal) -> None:
    """Forget a change that was decided."""
    drop_folder(_place(library, one.id))


def _place(library: Library, identity: str) -> Path:
    return library.data / "pending" / identity
