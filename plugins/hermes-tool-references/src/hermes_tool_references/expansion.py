"""Putting what a message refers to below it, within what the model can read and a person waits for."""

import asyncio
import os
from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Envelope, Principal, Text
from hermes_paths.places import check_path
from hermes_tool_kit.provenance.ledger import Ledger
from hermes_tool_references.closed import closed
from hermes_tool_references.files import list_folder, read_file, rules_for
from hermes_tool_references.found import Found, Refused, block, one_line
from hermes_tool_references.parsing import MOST, Reference, references

SECONDS = 4.0  # for all of them; the kernel gives up a second later
UNKNOWN_WINDOW = 128_000  # tokens
BYTES = 4  # of a token
SOFT, HARD = 0.25, 0.5  # of the window
_TOO_MANY = f"a message may refer to {MOST} things"
_ELSEWHERE = "the tools of this session work elsewhere, and files are not read from here"


async def expanded(ctx: PluginContext, envelope: Envelope, owner: Principal, cwd: str, context: int) -> Envelope | None:
    """The message with what it refers to below it; None when that is nothing, or too much."""
    message = envelope.message
    texts = [part.text for part in message.parts if isinstance(part, Text) and not part.quotes]
    wanted = list(dict.fromkeys(one for text in texts for one in references(text)))
    if not wanted:
        return None
    window = context or UNKNOWN_WINDOW
    looked_up = await _Lookup(ctx, owner, cwd, int(window * HARD) * BYTES).all(wanted)
    for one, why in looked_up.refused:
        ctx.tell(f"{one_line(one.raw, 100)}: {why}.")
    parts = _parts(looked_up)
    tokens = sum(len(part.text.encode("utf-8", "replace")) for part in parts) // BYTES
    if tokens > window * HARD:
        ctx.tell(
            f"What @ refers to is too much: more than {HARD:.0%} of the {window:,} tokens that the model reads. "
            "Your message was sent as it is; name lines (@file:path:10-80), or fewer files."
        )
        return None
    if tokens > window * SOFT:
        ctx.tell(f"What @ refers to takes about {tokens:,} tokens, {tokens / window:.0%} of what the model reads.")
    if not parts:
        return None
    untrusted = message.untrusted or any(found.untrusted for found in looked_up.found)
    return evolve(envelope, message=evolve(message, parts=(*message.parts, *parts), untrusted=untrusted))


def _parts(looked_up: "_Lookup") -> list[Text]:
    """What was found and what was not, each as a part of its own that says what it quotes."""
    parts = [Text(text=f"\n\n{block(found)}", quotes=one_line(found.label)) for found in looked_up.found]
    if looked_up.refused:
        lines = [f"[{one_line(one.raw, 100)} was not put here: {why}.]" for one, why in looked_up.refused]
        parts.append(Text(text="\n\n" + "\n".join(lines), quotes="references"))
    return parts


class _Lookup:
    """Looks references up, side by side. ``refused`` are those that came to nothing, and why."""

    def __init__(self, ctx: PluginContext, owner: Principal, cwd: str, most: int) -> None:
        self._ctx, self._owner, self._cwd, self._most = ctx, owner, cwd, most
        self._closed = closed(ctx)
        self.found: list[Found] = []
        self.refused: list[tuple[Reference, str]] = []

    async def all(self, wanted: Sequence[Reference]) -> "_Lookup":
        """Look them up; those beyond the limit are refused."""
        named = [one for one in wanted if one.kind != "path"]
        bare = [one for one in wanted if one.kind == "path"][: MOST * 4]  # most words behind an @ are no files
        taken = {*named[:MOST], *bare}
        order = [one for one in wanted if one in taken]
        for one, result in zip(order, await asyncio.gather(*map(self._one, order)), strict=True):
            if isinstance(result, str):
                self.refused.append((one, result))
            elif result and len(self.found) < MOST:
                self.found.append(result)
            elif result:
                self.refused.append((one, _TOO_MANY))
        self.refused += ((one, _TOO_MANY) for one in named[MOST:])
        return self

    async def _one(self, wanted: Reference) -> Found | str | None:
        """What it refers to, or why that is not shown; None for a word that refers to nothing."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._look(wanted)
        except Refused as error:
            return str(error)
        except TimeoutError:
            return f"it took longer than {SECONDS:g} seconds"
        except Exception as error:
            self._ctx.log.exception("a reference could not be looked up")
            return f"it could not be read ({type(error).__name__})"

    async def _look(self, wanted: Reference) -> Found | None:
        from hermes_tool_references import git, history, pages

        if wanted.kind == "url":
            return await pages.read_page(wanted, self._ctx.urls, self._most, SECONDS)
        if wanted.kind == "session":
            return await history.recap(wanted, self._ctx.sessions, self._owner)
        if not self._cwd:
            if wanted.kind == "path":
                return None
            raise Refused(_ELSEWHERE)
        if wanted.kind in ("diff", "staged", "git"):
            found = await git.changes(wanted, self._cwd, self._closed, self._most)
            return self._marked(found, os.path.join(self._cwd, ".git"), self._cwd)  # noqa: PTH118
        rules = rules_for(self._cwd, self._closed)
        if wanted.kind == "folder":
            listed = await asyncio.to_thread(list_folder, wanted, rules)
            place = check_path(wanted.value, rules)
            return self._marked(listed, place, place)
        read = await asyncio.to_thread(read_file, wanted, rules, self._most)
        return self._marked(read, check_path(wanted.value, rules)) if read else None

    def _marked(self, found: Found, path: str, folder: str = "") -> Found:
        """What was found, marked where the file or the folder comes from outside, or a file that it names below one."""
        ledger = Ledger(self._ctx.paths.home, self._cwd)
        try:
            outside = ledger.outside(path) or bool(folder and ledger.names(folder, found.text))
            return evolve(found, untrusted=found.untrusted or outside)
        finally:
            ledger.close()
