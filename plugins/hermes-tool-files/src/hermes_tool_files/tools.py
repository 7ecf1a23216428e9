"""The file tools that are always offered. All go through the session's workspace, so they work wherever it is.

What they do is imported when one is called.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, ToolOutput, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect, Text
from hermes_tool_files.config import Config
from hermes_tool_files.places import Places, is_notebook, key_of
from hermes_tool_files.seen import Seen

if TYPE_CHECKING:
    from hermes_tool_files.documents import Documents

DIFF_LINES = 200
LISTED = 500


@settings
class Read:
    """What to read."""

    path: str = option("")
    offset: int = option("first line", default=1, validator=ge(1))
    limit: int = option("lines", default=500, validator=[ge(1), le(2000)])


@settings
class Write:
    """What to write."""

    path: str = option("")
    content: str = option("")


@settings
class Change:
    """What to change."""

    path: str = option("")
    old: str = option("unique, without line numbers")
    new: str = option("")
    replace_all: bool = option("", default=False)


@settings
class Find:
    """What to find."""

    pattern: str = option("regex; for files a name or glob")
    path: str = option("", default=".")
    glob: str = option("e.g. *.py", default="")
    target: Literal["content", "files"] = option("files: names, newest first", default="content")
    limit: int = option("", default=50, validator=[ge(1), le(500)])
    context: int = option("lines around", default=0, validator=[ge(0), le(20)])


@settings
class Listing:
    """What to list."""

    path: str = option("", default=".")
    depth: int = option("", default=1, validator=[ge(1), le(5)])


def make_tools(guarded: Iterable[Path] = (), home: Path | None = None, config: Config | None = None) -> Sequence[Tool]:
    """The tools, sharing what they know of workspaces and of what each session has seen.

    ``guarded`` are files and folders that are closed to them on this machine. ``home``, where Hermes keeps them, is
    left out of what is found from above it.
    """
    places, seen = Places(guarded, home), Seen()
    plain = [_read(places, seen), _write(places, seen), _edit(places, seen), _search(places), _list(places)]
    from hermes_tool_files.cells import cells_tool
    from hermes_tool_files.patching import patch_tool

    chosen = config or Config()
    return [*plain, patch_tool(places, seen, chosen.patches), cells_tool(places, seen, chosen.notebooks)]


def _read(places: Places, seen: Seen) -> Tool:
    documents: list[Documents] = []

    @tool(toolset="files", effects={Effect.READ_FILES}, idempotent=True, touches=lambda params: [key_of(params.path)])
    async def read_file(context: ToolContext, params: Read) -> ToolOutput:
        """Read a text file as LINE|text."""
        from hermes_tool_files.content import decode, is_binary
        from hermes_tool_files.documents import Documents
        from hermes_tool_files.reading import numbered

        if not documents:
            documents.append(Documents())
        data = await places.read(context.workspace, params.path)
        seen.remember(context.session, await places.resolve(context.workspace, params.path), data)
        if (text := await documents[0].text_of(params.path, data)) is not None:
            told = numbered(params.path, text.encode(), params.offset, params.limit)
            return f"[{params.path} as Markdown; it cannot be edited in this form]\n{told}"
        if is_notebook(params.path) and not is_binary(data):
            return _notebook(params, decode(data).text)
        return numbered(params.path, data, params.offset, params.limit)

    return read_file


def _notebook(params: Read, text: str) -> ToolOutput:
    from hermes_tool_files.notebooks import Notebook
    from hermes_tool_files.reading import numbered

    try:
        shown = Notebook(params.path, text).shown()
    except ToolError:  # of an older format, or broken: as the text it is
        return numbered(params.path, text.encode(), params.offset, params.limit)
    told = numbered(params.path, shown.text.encode(errors="replace"), params.offset, params.limit)
    pictures = [one for one in shown.pictures if f"[picture {one.name}]" in told]
    return [Text(text=told), *pictures] if pictures else told


def _write(places: Places, seen: Seen) -> Tool:
    @tool(toolset="files", effects={Effect.WRITE_FILES}, touches=lambda params: [key_of(params.path)])
    async def write_file(context: ToolContext, params: Write) -> str:
        """Write a whole file, making its folders. To change a part use edit_file."""
        full = await places.resolve(context.workspace, params.path)
        data = encoded(params.content)
        warning = await _stale(context, seen, full)
        await context.workspace.write(full, data)
        seen.remember(context.session, full, data, wrote=True)
        lines = len(params.content.splitlines())
        return f"Wrote {params.path}: {len(data):,} bytes, {lines:,} line{'' if lines == 1 else 's'}.{warning}"

    return write_file


def _edit(places: Places, seen: Seen) -> Tool:
    @tool(
        toolset="files", effects={Effect.READ_FILES, Effect.WRITE_FILES}, touches=lambda params: [key_of(params.path)]
    )
    async def edit_file(context: ToolContext, params: Change) -> str:
        """Replace text that fits one place in a file, white space aside."""
        from hermes_tool_files.content import decode, is_binary
        from hermes_tool_files.matching import edit

        full = await places.resolve(context.workspace, params.path)
        data = await places.read(context.workspace, params.path)
        if is_binary(data):
            raise ToolError(f"Not edited: {params.path} is not text.", retry=False)
        warning = seen.warning(context.session, full, data)
        content = decode(data)
        if is_notebook(params.path):
            from hermes_tool_files.notebooks import Notebook, edit_cells

            notebook = Notebook(params.path, content.text)
            cells = edit_cells(notebook, params.old, params.new, replace_all=params.replace_all)
            written = content.encode(notebook.written())
            await context.workspace.write(full, written)
            seen.remember(context.session, full, written, wrote=True)
            numbers = ", ".join(map(str, cells))
            return f"Edited cell {numbers} of {params.path}; outputs of changed code are gone.{warning}"
        result = edit(content.text, params.old, params.new, replace_all=params.replace_all)
        written = content.encode(result.text)
        await context.workspace.write(full, written)
        seen.remember(context.session, full, written, wrote=True)
        how = "" if result.strategy == "exact" else f" (matched in spite of: {result.strategy})"
        count = f", {result.places} places" if result.places > 1 else ""
        return f"Edited {params.path}{count}{how}{warning}\n{diff_of(content.text, result.text)}"

    return edit_file


def _search(places: Places) -> Tool:
    @tool(toolset="files", effects={Effect.READ_FILES}, idempotent=True, touches=lambda params: [key_of(params.path)])
    async def search_files(context: ToolContext, params: Find) -> str:
        """Search file contents or names, without what .gitignore names."""
        from hermes_tool_files import searching

        root = await places.resolve(context.workspace, params.path)
        ripgrep = await places.has_ripgrep(context.workspace)
        search = searching.Search(
            pattern=params.pattern,
            root=root,
            glob=params.glob,
            limit=params.limit,
            context=params.context,
            is_open=places.opener(context.workspace, root, names=params.target == "files"),
        )
        look = searching.search_content if params.target == "content" else searching.search_names
        return await look(context.workspace, search, ripgrep=ripgrep)

    return search_files


def _list(places: Places) -> Tool:
    @tool(toolset="files", effects={Effect.READ_FILES}, idempotent=True, touches=lambda params: [key_of(params.path)])
    async def list_files(context: ToolContext, params: Listing) -> str:
        """List a folder; folders end in a slash."""
        from hermes_tool_files import searching

        root = await places.resolve(context.workspace, params.path)
        is_open = places.opener(context.workspace, root, names=True)
        return await searching.list_folder(context.workspace, root, params.depth, LISTED, is_open)

    return list_files


async def _stale(context: ToolContext, seen: Seen, full: str) -> str:
    if not seen.knows(context.session, full):
        return ""
    try:
        return seen.warning(context.session, full, await context.workspace.read(full))
    except ToolError:  # it is gone, so there is nothing to replace
        return ""


def encoded(text: str) -> bytes:
    """The bytes of a text in UTF-8. Raises ToolError."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError("Not written: the content holds half a character (a lone surrogate).") from error


def diff_of(before: str, after: str) -> str:
    """The lines that differ, a bounded number of them."""
    from difflib import unified_diff

    lines = [line.rstrip("\r") for line in unified_diff(before.split("\n"), after.split("\n"), n=2, lineterm="")][2:]
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"[{len(lines) - DIFF_LINES:,} more lines of difference]"]
    return "\n".join(line[:500] for line in lines)
