"""A board on the whole terminal: drawn as it changes, and moved by keys."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hermes_tool_kanban.moving import CHANGED
from hermes_tool_kanban.picture import COLOURS, Cell, columns_of, picture
from hermes_tool_kanban.screen import Screen, keys_of

if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door

__all__ = ["drawn", "watched"]

_LOOK = 1.0


async def drawn(
    door: "Door", board: str, *, everything: bool, screen: Screen | None = None
) -> Sequence[str]:  # fmt: skip
    """Return the lines of a board; those of a ``screen`` fill the terminal, with its bottom line."""
    import click

    from hermes_tables.tables import fitted, visible
    from hermes_tool_kanban.words import about

    where = await door.board(board)
    there = await door.rows.tasks.list(where.id, archived=everything)
    size = shutil.get_terminal_size((120, 40))
    head = click.style(f"{where.name or where.slug}: {len(there)} tasks", bold=True)
    columns = columns_of(there, archived=everything)
    if screen is None:
        return [head, *(" ".join(_styled(line, "")).rstrip() for line in picture(columns, size.columns, 10_000))]
    screen.show(there)
    room = size.lines - 2
    if screen.open:
        task, rows = await door.task(screen.chosen), door.rows.tasks
        parents, children = await rows.family(task.id)
        text = about(task, parents, children, await rows.runs(task.id, limit=5), await rows.comments(task.id, 10))
        lines = [fitted(line, size.columns - 1) for line in visible(text).splitlines()[:room]]
    else:
        made = picture(columns, size.columns, room, screen.chosen)
        lines = [" ".join(_styled(line, screen.chosen)) for line in made[:room]]
    lines += [""] * (room - len(lines))
    return [head, *lines, click.style(fitted(visible(screen.line), size.columns - 1), dim=not screen.asks)]


def _styled(line: Sequence[Cell], chosen: str) -> Iterator[str]:
    import click

    from hermes_tables.tables import visible

    for cell in line:
        reverse = True if chosen and cell.task == chosen else None
        yield click.style(visible(cell.text), fg=COLOURS.get(cell.status), bold=cell.bold or None, reverse=reverse)


async def watched(door: "Door", board: str, *, everything: bool) -> None:
    """Show a board on the whole terminal until a person leaves it; the terminal is as it was then."""
    import termios
    import tty

    screen, woken, loop, file = Screen(door), asyncio.Event(), asyncio.get_running_loop(), sys.stdin.fileno()
    typed: list[str] = []

    def read() -> None:
        data = os.read(file, 4096)
        typed.extend(keys_of(data.decode("utf-8", "replace")) if data else ["q"])
        woken.set()

    before = termios.tcgetattr(file)
    end = await door.ctx.store.subscribe(CHANGED, woken.set)
    tty.setcbreak(file)
    loop.add_reader(file, read)
    sys.stdout.write("\x1b[?1049h\x1b[?25l")  # a screen of its own, without the cursor
    try:
        shown: Sequence[str] = ()
        while not screen.over:
            woken.clear()
            while typed and not screen.over:
                await screen.key(typed.pop(0))
            if (lines := await drawn(door, board, everything=everything, screen=screen)) != shown:
                sys.stdout.write("\x1b[H" + "\x1b[K\n".join(lines) + "\x1b[J")
                sys.stdout.flush()
                shown = lines
            try:
                async with asyncio.timeout(_LOOK):
                    await woken.wait()
            except TimeoutError:  # another process may have changed it
                continue
    finally:
        loop.remove_reader(file)
        end()
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        termios.tcsetattr(file, termios.TCSADRAIN, before)
