"""Steps about files: list, find, read, count, outline."""

import re
from collections.abc import Generator

from attrs import evolve

from hermes_provider_offline.history import Outcome
from hermes_provider_offline.names import with_extension
from hermes_provider_offline.outputs import Entry, FileText, file_text, headings, is_empty, listing
from hermes_provider_offline.plan_state import Act, PlanState, sorry
from hermes_provider_offline.speech import WHAT, code, counted, fenced
from hermes_provider_offline.step import Step, Which
from hermes_provider_offline.toolbox import Call, CannotDo

_DOCUMENT = re.compile(r"(?:\.(?:md|markdown|mdx|rst|txt|adoc|org)|(?:^|/)[^./]+)$", re.IGNORECASE)
SHOWN = 60  # entries or lines of one thing in an answer
_PAGES = 6  # pages of a long file that are read after the first
_READ_TO_COMPARE = 12  # files read to find the longest when the listing has no sizes


def entries_of(state: PlanState, folder: str) -> Generator[Call, Outcome, list[Entry]]:
    """What is in a folder. Raises CannotDo."""
    call = state.toolbox.call("list", **({"path": folder} if folder else {}))
    outcome = yield call
    if outcome.failed:
        raise sorry(f"I could not list {code(folder or '.')}.", outcome)
    return [] if is_empty(outcome.text) else listing(outcome.text)


def load(state: PlanState, path: str, *, whole: bool = True) -> Generator[Call, Outcome, FileText]:
    """The text of a file, which is then the file spoken of; ``whole`` turns its pages. Raises CannotDo."""
    outcome = yield state.toolbox.call("read", path=path)
    if outcome.failed:
        raise sorry(f"I could not read {code(path)}.", outcome)
    text = file_text(outcome.text, path)
    for _ in range(_PAGES if whole else 0):
        if text.whole or not text.onward:
            break
        outcome = yield state.toolbox.call("read", path=path, offset=text.onward)
        if outcome.failed:
            break
        more = file_text(outcome.text, path)
        text = evolve(more, lines=(*text.lines, *more.lines))
    state.path, state.file = path, text
    return text


def subject(state: PlanState, step: Step) -> Generator[Call, Outcome, str]:
    """The file a step is about: named, described, or spoken of before. Raises CannotDo."""
    if step.which:
        return (yield from _choose(state, step.which, step.path))
    path = step.path or state.path
    if not path:
        raise CannotDo("I do not know which file you mean; please name it.")
    return path


def _choose(state: PlanState, which: Which, folder: str) -> Generator[Call, Outcome, str]:
    files = [entry for entry in (yield from entries_of(state, folder)) if not entry.folder]
    wanted = set(with_extension([entry.name for entry in files], which.extension))
    files = [entry for entry in files if entry.name in wanted]
    kind = f".{which.extension} file" if which.extension else "file"
    if not files:
        raise CannotDo(f"There is no {kind} in {code(folder or '.')}.")
    if which.order in ("newest", "oldest"):
        raise CannotDo(f"I cannot tell which {kind} is the {which.order}: the listing does not say when files changed.")
    if which.order in ("first", "last"):
        return within(folder, sorted(entry.name for entry in files)[0 if which.order == "first" else -1])
    if any(entry.size < 0 for entry in files) and len(files) > 1:
        files = yield from _measured(state, folder, files)
    pick = min if which.order == "shortest" else max
    return within(folder, pick(files, key=lambda entry: (entry.size, entry.name)).name)


def _measured(state: PlanState, folder: str, files: list[Entry]) -> Generator[Call, Outcome, list[Entry]]:
    """Numbers of lines by reading, where the listing has none. Raises CannotDo when these are too many."""
    if len(files) > _READ_TO_COMPARE:
        raise CannotDo(
            f"The listing has no sizes, and I do not read {len(files)} files to compare them. Name the file."
        )
    measured = []
    for entry in files:
        text = yield from load(state, within(folder, entry.name), whole=False)
        measured.append(Entry(name=entry.name, size=text.total))
    return measured


def within(folder: str, name: str) -> str:
    """A name that a tool gave relative to a folder, as a path from here."""
    return (
        name
        if not folder or folder in (".", "./") or name.startswith(f"{folder.rstrip('/')}/")
        else f"{folder.rstrip('/')}/{name}"
    )


def act_list(step: Step, state: PlanState) -> Act:
    """The entries of a folder."""
    entries = yield from entries_of(state, step.path)
    if step.text:
        keep = set(with_extension([entry.name for entry in entries], step.text))
        entries = [entry for entry in entries if entry.name in keep]
    where = code(step.path or ".")
    if not entries:
        return f"There is nothing in {where}." if not step.text else f"There is no .{step.text} file in {where}."
    folders = sum(entry.folder for entry in entries)
    parts = [counted(n, w) for n, w in ((folders, "folder"), (len(entries) - folders, "file")) if n]
    state.result = "\n".join(entry.name + ("/" if entry.folder else "") for entry in entries)
    return f"{where} holds {' and '.join(parts)}:\n{_bullets(entries)}"


def _bullets(entries: list[Entry]) -> str:
    rows = []
    for entry in entries[:SHOWN]:
        size = f" ({counted(entry.size, 'byte')})" if entry.size >= 0 and not entry.folder else ""
        rows.append(f"- {entry.name}{'/' if entry.folder else ''}{size}")
    if len(entries) > SHOWN:
        rows.append(f"- … and {len(entries) - SHOWN:,} more")
    return "\n".join(rows)


def act_find(step: Step, state: PlanState) -> Act:
    """Files by name."""
    found = yield from _found(state, step.text, step.path)
    where = f" in {code(step.path)}" if step.path else ""
    if not found:
        return f"I found no file named {code(step.text)}{where}."
    if len(found) == 1 and not found[0].folder:
        state.path = found[0].name
    state.result = "\n".join(entry.name for entry in found)
    return f"I found {counted(len(found), 'file')} named {code(step.text)}{where}:\n{_bullets(found)}"


def _found(state: PlanState, glob: str, folder: str) -> Generator[Call, Outcome, list[Entry]]:
    outcome = yield state.toolbox.call("find", glob=glob, scope="files", **({"path": folder} if folder else {}))
    if outcome.failed:
        raise sorry(f"I could not look for {code(glob)}.", outcome)
    found = [] if is_empty(outcome.text) else listing(outcome.text)
    return [evolve(entry, name=within(folder, entry.name)) for entry in found]


def act_count_files(step: Step, state: PlanState) -> Act:
    """How many files there are."""
    where = code(step.path or ".")
    if step.text:
        found = yield from _found(state, f"*.{step.text}", step.path)
        state.result = str(len(found))
        return (
            f"There {'is' if len(found) == 1 else 'are'} {counted(len(found), f'.{step.text} file')} in"
            f" {where} and below."
        )
    entries = yield from entries_of(state, step.path)
    files = sum(not entry.folder for entry in entries)
    state.result = str(files)
    return (
        f"There {'is' if files == 1 else 'are'} {counted(files, 'file')} and "
        f"{counted(len(entries) - files, 'folder')} in {where}."
    )


def act_read(step: Step, state: PlanState) -> Act:
    """The text of a file, or only that it was read when the next step says more."""
    path = yield from subject(state, step)
    blocks = []
    for one in (path, *step.words):
        text = yield from load(state, one, whole=False)
        blocks.append(_shown(one, text, quiet=step.quiet))
    state.result = "\n".join(state.file.lines) if state.file else ""
    return "\n\n".join(blocks)


def _shown(path: str, text: FileText, *, quiet: bool) -> str:
    count = counted(text.total or len(text.lines), "line")
    if not text.lines or not any(line.strip() for line in text.lines):
        return f"{code(path)} is empty."
    if quiet:
        return f"I read {code(path)} ({count})."
    left = (text.total or len(text.lines)) - min(len(text.lines), SHOWN)
    more = f"\n… and {counted(left, 'more line')}." if left > 0 else ""
    return f"{code(path)} ({count}):\n{fenced(chr(10).join(text.lines[:SHOWN]))}{more}"


def _text(state: PlanState, step: Step) -> Generator[Call, Outcome, tuple[str, FileText]]:
    """The file a step is about and its text; it is not read twice. Raises CannotDo."""
    path = yield from subject(state, step)
    if state.file is None or path != state.path or not state.file.whole:
        yield from load(state, path)
    return path, state.file or FileText(lines=())


def _headings(path: str, text: FileText) -> list[str]:
    """The headings of a document; in source code a line with # is a comment."""
    return headings(text.lines) if _DOCUMENT.search(path) else []


def act_which(step: Step, state: PlanState) -> Act:
    """Which file is the longest, or the shortest."""
    path = yield from subject(state, step)
    state.path, state.file = path, None
    order = step.which.order if step.which else "one"
    return (
        f"The {order} {f'.{step.which.extension} ' if step.which and step.which.extension else ''}file is {code(path)}."
    )


def act_headings(step: Step, state: PlanState) -> Act:
    """The headings of a file."""
    path, text = yield from _text(state, step)
    found = _headings(path, text)
    if not found:
        return f"{code(path)} has no headings."
    state.result = "\n".join(found)
    rows = [f"{'  ' * (len(row) - len(row.lstrip('#')) - 1)}- {row.lstrip('#').strip()}" for row in found[:SHOWN]]
    rest = f"\n- … and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    part = "" if text.whole else " in the part that was shown"
    return f"{code(path)} has {counted(len(found), 'heading')}{part}:\n" + "\n".join(rows) + rest


def act_head(step: Step, state: PlanState) -> Act:
    """The first lines of a file."""
    path, text = yield from _text(state, step)
    return _some(state, path, list(text.lines[: step.number]), "first")


def act_tail(step: Step, state: PlanState) -> Act:
    """The last lines of a file."""
    path, text = yield from _text(state, step)
    if not text.whole:
        raise CannotDo(f"Only a part of {code(path)} was shown to me, so I cannot tell its last lines.")
    return _some(state, path, list(text.lines[-step.number :]), "last")


def _some(state: PlanState, path: str, lines: list[str], which: str) -> str:
    if not lines:
        return f"{code(path)} is empty."
    state.result = "\n".join(lines[:SHOWN])
    count = "line" if len(lines) == 1 else f"{min(len(lines), SHOWN)} lines"
    return f"The {which} {count} of {code(path)}:\n{fenced(state.result)}"


def act_count(step: Step, state: PlanState) -> Act:
    """How many lines, words, characters or headings a file has."""
    path, text = yield from _text(state, step)
    whole = "\n".join(text.lines)
    numbers = {
        "line": len(text.lines),
        "word": len(whole.split()),
        "character": len(whole),
        "heading": len(_headings(path, text)),
    }
    number = numbers[step.other or "line"]
    state.result = str(number)
    least = "" if text.whole else "at least "
    return f"{code(path)} has {least}{counted(number, step.other or 'line')}."


def act_outline(step: Step, state: PlanState) -> Act:
    """What a file says of itself, where a summary was asked for."""
    path, text = yield from _text(state, step)
    found = _headings(path, text)
    opening = next(
        (block for block in "\n".join(text.lines).split("\n\n") if block.strip() and not block.startswith("#")), ""
    )
    parts = [f"{WHAT} I cannot sum up {code(path)} in my own words. It has {counted(len(text.lines), 'line')}."]
    if found:
        parts.append("Its headings:\n" + "\n".join(f"- {row.lstrip('#').strip()}" for row in found[:20]))
    if opening:
        parts.append("It begins:\n" + fenced("\n".join(opening.strip().splitlines()[:8])))
    return "\n\n".join(parts)
