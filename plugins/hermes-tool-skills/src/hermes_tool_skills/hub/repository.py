"""A repository of skills, on GitHub by its short name or anywhere by an https address."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hermes_core.errors import UserError
from hermes_tool_skills.fetch import allowed, download, short
from hermes_tool_skills.frontmatter import BadSkill, parse
from hermes_tool_skills.hub import Offer
from hermes_tool_skills.tree import MAIN, text_of
from hermes_tool_skills.unpack import unpack_mains

KIND = "git"


def browse(base: str, most: int, *, archives: str) -> Sequence[Offer]:
    """Every skill that lies in it, by its own words."""
    address, _, below = base.partition("#")
    if address.startswith(("https://", "http://")):
        from hermes_tool_skills.git import mains

        allowed(address)
        with tempfile.TemporaryDirectory() as scratch:
            found = mains(address, below.strip("/"), Path(scratch))
        return _offers(found, most, lambda folder: f"{address}#{folder}")
    owner, repo, path, ref = short(base)
    data, _ = download(f"{archives.rstrip('/')}/{owner}/{repo}/tar.gz/{ref or 'HEAD'}")
    tail = f"@{ref}" if ref else ""
    inside = {f: t for f, t in unpack_mains(data).items() if not path or f == path or f.startswith(f"{path}/")}
    return _offers(inside, most, lambda folder: f"{owner}/{repo}{f'/{folder}' if folder else ''}{tail}")


def _offers(found: Mapping[str, bytes], most: int, word: Callable[[str], str]) -> Sequence[Offer]:
    offers = []
    for folder, data in sorted(found.items()):
        try:
            head, _ = parse(text_of(data) or "", foreign=True)
        except BadSkill:
            continue
        offers.append(Offer(name=head.name, description=head.description, install=word(folder), version=head.version))
    if not offers:
        raise UserError(f"There is no {MAIN} in it that can be read.")
    return offers[:most]
