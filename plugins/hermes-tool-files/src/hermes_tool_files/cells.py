"""``edit_notebook``: cells of a notebook replaced, added and removed."""

from pathlib import Path
from typing import Literal

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect, Session
from hermes_tool_files.places import Places, key_of
from hermes_tool_files.seen import Seen


@settings
class Cell:
    """What to change."""

    path: str = option("")
    cell: str = option("number or id; insert: behind it, 0 at the top")
    source: str = option("", default="")
    action: Literal["replace", "insert", "delete"] = option("", default="replace")
    kind: Literal["", "code", "markdown", "raw"] = option("", default="")


def cells_tool(places: Places, seen: Seen, offered: Literal["auto", "on", "off"]) -> Tool:
    """The tool, offered where a notebook lies in the session's folder."""

    def needs(session: Session) -> str | None:
        if offered == "on" or (offered == "auto" and _has_notebook(session.cwd)):
            return None
        return "no notebook lies in this folder (tools.files.notebooks); edit_file changes text in cells"

    @tool(
        toolset="files",
        effects={Effect.READ_FILES, Effect.WRITE_FILES},
        touches=lambda params: [key_of(params.path)],
        needs=needs,
    )
    async def edit_notebook(context: ToolContext, params: Cell) -> str:
        """Replace, insert or delete a cell of a notebook."""
        from hermes_tool_files.content import decode, is_binary
        from hermes_tool_files.notebooks import Notebook

        full = await places.resolve(context.workspace, params.path)
        data = await places.read(context.workspace, params.path)
        if is_binary(data):
            raise ToolError(f"Not edited: {params.path} is not text.", retry=False)
        warning = seen.warning(context.session, full, data)
        content = decode(data)
        notebook = Notebook(params.path, content.text)
        if params.action == "insert":
            at = 0 if params.cell.strip() == "0" else notebook.find(params.cell) + 1
            notebook.insert(at, params.source, params.kind)
        elif params.action == "delete":
            at = notebook.find(params.cell)
            del notebook.cells[at]
        else:
            at = notebook.find(params.cell)
            notebook.replace(at, params.source, params.kind)
        written = content.encode(notebook.written())
        await context.workspace.write(full, written)
        seen.remember(context.session, full, written, wrote=True)
        done = {"insert": "Inserted", "delete": "Deleted", "replace": "Replaced"}[params.action]
        return f"{done} cell {at + 1} of {params.path}, which has {len(notebook.cells)} cells now.{warning}"

    return edit_notebook


def _has_notebook(folder: str) -> bool:
    try:
        return any(one.suffix == ".ipynb" for one in Path(folder).iterdir()) if folder else False
    except OSError:  # it is in another place, or not there
        return False
