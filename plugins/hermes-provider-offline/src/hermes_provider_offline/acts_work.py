"""Steps that search, run and change things."""

import json
import re
from collections import Counter
from collections.abc import Generator, Mapping

from attrs import evolve

from hermes_provider_offline.acts_files import SHOWN, load, subject, within
from hermes_provider_offline.history import Outcome
from hermes_provider_offline.outputs import FileText, hits, is_empty, unwrap, was_cut
from hermes_provider_offline.plan_state import Act, PlanState, sorry
from hermes_provider_offline.speech import code, counted, fenced, quoted, short
from hermes_provider_offline.step import Step
from hermes_provider_offline.toolbox import Call, CannotDo

_ROWS = 500  # matches asked for
_MATCHES = 20  # matching lines quoted in an answer
_MISSING = re.compile(r"no such|not found|does not exist|doesn'?t exist|there is no|no file", re.IGNORECASE)
_SPECIAL = re.compile(r"([.^$*+?{}\[\]\\|()])")


def act_search(step: Step, state: PlanState) -> Act:
    """Lines that match, or how many there are in each file."""
    values = {"pattern": _pattern(step.text), **({"path": step.path} if step.path else {}), "limit": _ROWS}
    outcome = yield state.toolbox.call("search", **values)
    where = f" in {code(step.path)}" if step.path else ""
    state.searched = step.text
    if outcome.failed:
        raise sorry(f"I could not search for {code(step.text)}{where}.", outcome)
    alone = step.path.rsplit("/", 1)[-1]
    state.hits = [
        evolve(h, path=step.path if h.path == alone else within(step.path, h.path)) for h in hits(outcome.text)
    ]
    state.result = "\n".join(f"{hit.path}:{hit.line}: {hit.text}" for hit in state.hits) or unwrap(outcome.text)
    if not state.hits:
        nothing = is_empty(outcome.text) or re.match(r"exit 1\b", outcome.text)
        return (
            f"Nothing matches {code(step.text)}{where}."
            if nothing
            else f"For {code(step.text)}{where}:\n{quoted(outcome.text)}"
        )
    if len({hit.path for hit in state.hits}) == 1:
        state.path, state.file = state.hits[0].path, None
    least = "at least " if was_cut(outcome.text) else ""
    files = len({hit.path for hit in state.hits})
    head = f"{code(step.text)} matches {least}{counted(len(state.hits), 'line')} in {counted(files, 'file')}{where}"
    if step.per_file:
        return f"{head}:\n{_per_file(state)}"
    if step.quiet:
        return f"{head}."
    rows = [f"- {hit.path}:{hit.line}: {short(hit.text, 160)}" for hit in state.hits[:_MATCHES]]
    if len(state.hits) > _MATCHES:
        rows.append(f"- … and {len(state.hits) - _MATCHES:,} more")
    return f"{head}:\n" + "\n".join(rows)


def _pattern(text: str) -> str:
    """The text as a regular expression that means just this, unless it plainly is an expression."""
    if re.search(r"\\[bwsd]|\.[*+]|\[[^\]]+\][*+]?|^\^|\$$|\w\|\w", text):
        try:
            re.compile(text)
        except re.error:
            pass
        else:
            return text
    return _SPECIAL.sub(r"\\\1", text)


def _per_file(state: PlanState) -> str:
    counts = Counter(hit.path for hit in state.hits).most_common()
    state.result = "\n".join(f"{path}: {number}" for path, number in counts)
    rows = [f"- {path}: {number}" for path, number in counts[:SHOWN]]
    if len(counts) > SHOWN:
        rows.append(f"- … and {len(counts) - SHOWN} more files")
    return "\n".join(rows)


def act_per_file(step: Step, state: PlanState) -> Act:
    """How many matches each file had in the search before."""
    if not state.hits and state.searched:
        return f"Nothing matched {code(state.searched)}, so there is nothing to count."
    if not state.hits:
        raise CannotDo("There is nothing to count yet; search for something first.")
    return f"Lines that match {code(state.searched)}, by file:\n{_per_file(state)}"
    yield  # a generator like the others


def act_run(step: Step, state: PlanState) -> Act:
    """A command and what it printed."""
    outcome = yield state.toolbox.call("run", command=step.text)
    if outcome.failed:
        raise sorry(f"I could not run {code(step.text)}.", outcome)
    text = unwrap(outcome.text).rstrip()
    text = "" if text == "(no output)" else text
    state.result = text
    lines = text.splitlines()
    if len(lines) > SHOWN:
        text = "\n".join([*lines[: SHOWN - 20], f"… {len(lines) - SHOWN:,} lines left out …", *lines[-20:]])
    if re.search(r"(?:^|\n)exit [1-9]\d*\b[^\n]*$", text):
        state.troubled = True
        return f"{code(step.text)} ended with an error status:\n{fenced(text)}"
    return f"{code(step.text)} gave:\n{fenced(text)}" if text else f"{code(step.text)} ran and printed nothing."


def act_run_unclear(step: Step, state: PlanState) -> Act:
    """Something is to be run, but it is not a command."""
    raise CannotDo(
        f"I cannot tell which command “{short(step.text, 80)}” is. Write the command itself: run `pytest -q`."
    )
    yield


def act_write(step: Step, state: PlanState) -> Act:
    """A file written as a whole."""
    if step.here and not state.result:
        raise CannotDo(f"There is no result yet that I could write to {code(step.path)}.")
    content = state.result + "\n" if step.here else step.text
    yield from _write(state, step.path, content)
    return f"I wrote {counted(len(content), 'character')} to {code(step.path)}."


def _write(state: PlanState, path: str, content: str) -> Generator[Call, Outcome, None]:
    outcome = yield state.toolbox.call("write", path=path, content=content)
    if outcome.failed:
        raise sorry(f"I could not write {code(path)}.", outcome)
    state.path, state.file = path, None


def act_append(step: Step, state: PlanState) -> Act:
    """Text added at the end, by an edit that is checked against what is there."""
    path = yield from subject(state, step)
    there = yield from _existing(state, path)
    if not any(line.strip() for line in there.lines):
        yield from _write(state, path, step.text + "\n")
    elif not there.whole:
        raise CannotDo(f"{code(path)} is too long for me to add to its end safely.")
    else:
        yield from _extend(state, path, list(there.lines), step.text)
    state.path, state.file = path, None
    return f"I added “{short(step.text, 80)}” to the end of {code(path)}."


def _existing(state: PlanState, path: str) -> Generator[Call, Outcome, FileText]:
    """The text of a file, empty when there is no such file. Raises CannotDo when it cannot be read."""
    call = state.toolbox.call("read", path=path)
    outcome = yield call
    if outcome.failed and not _MISSING.search(outcome.text):
        raise sorry(f"I could not read {code(path)}.", outcome)
    return FileText(lines=()) if outcome.failed else (yield from load(state, path))


def _extend(state: PlanState, path: str, lines: list[str], text: str) -> Generator[Call, Outcome, None]:
    while lines and not lines[-1].strip():
        lines.pop()
    outcome = Outcome(text="", failed=True)
    for tail in ("\n".join(lines[-3:]), "\n".join(lines)):  # a few lines may occur twice; all of them do not
        outcome = yield state.toolbox.call("edit", path=path, old=tail, new=f"{tail}\n{text}")
        if not outcome.failed or len(lines) <= 3:
            break
    if outcome.failed:
        raise sorry(f"I could not add to {code(path)}.", outcome)


def act_write_unclear(step: Step, state: PlanState) -> Act:
    """A text is to be made up, which rules cannot do."""
    raise CannotDo(f"I cannot make up “{short(step.text, 80)}”; I write only words you give me, best in quotes.")
    yield


def act_edit(step: Step, state: PlanState) -> Act:
    """One text replaced by another."""
    path = yield from subject(state, step)
    yield from load(state, path)
    outcome = yield state.toolbox.call("edit", path=path, old=step.text, new=step.other)
    if outcome.failed:
        raise sorry(f"I could not replace {code(step.text)} in {code(path)}.", outcome)
    state.file = None
    return f"I replaced {code(step.text)} by {code(step.other)} in {code(path)}."


def act_tool(step: Step, state: PlanState) -> Act:
    """Any tool by its name, with arguments taken from the sentence."""
    call = state.toolbox.by_name(step.text, step.other, list(step.words))
    outcome = yield call
    if outcome.failed:
        raise sorry(f"The tool {code(call.name)} did not work.", outcome)
    state.result = unwrap(outcome.text)
    return (
        f"{code(call.name)} with {_plain(call.arguments)} gave:\n"
        f"{fenced(short(state.result, 4000) if len(state.result) > 4000 else state.result)}"
    )


def _plain(arguments: Mapping[str, object]) -> str:
    return (
        ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
        or "no arguments"
    )
