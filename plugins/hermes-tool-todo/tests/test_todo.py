"""Todo: what a plan becomes, how it lasts, and who sees it."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.errors import ToolError
from hermes_core.testing import Call, FakeDocuments, FakePlatform, FakeToolContext, FakeWorkspace
from hermes_core.types import Principal, Session
from hermes_tool_todo.plan import MOST_CHARACTERS, MOST_ITEMS, STATUSES
from hermes_tool_todo.store import Plans
from hermes_tool_todo.tool import todo_command, todo_tool

ME = Session(id="20261120_101500_abc123", origin="cli")
STEPS = [{"id": "1", "content": "Look"}, {"id": "2", "content": "Mend", "status": "in_progress"}]


class Rig:
    """The tool and the command over one store; a new Rig is a new process."""

    def __init__(self, folder: Path, documents: FakeDocuments | None = None) -> None:
        self.folder, self.documents = folder, documents or FakeDocuments()
        self.plans = Plans(self.documents, folder / "data")
        self.tool, self.command = todo_tool(self.plans), todo_command(self.plans)

    async def todo(self, session: Session = ME, **arguments: Any) -> str:
        context = FakeToolContext(FakeWorkspace(folder=self.folder), session=session)
        return str(await self.tool.run(context, parse_arguments(self.tool, arguments)))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


async def test_a_plan_is_kept_and_read_back(rig: Rig) -> None:
    said = await rig.todo(todos=STEPS)
    assert said == "[ ] 1: Look\n[>] 2: Mend\n2 items: 1 pending, 1 in progress"
    assert await rig.todo() == said


async def test_a_plan_survives_a_restart(rig: Rig, tmp_path: Path) -> None:
    said = await rig.todo(todos=STEPS)
    assert await Rig(tmp_path, rig.documents).todo() == said


async def test_a_merge_updates_by_id_and_adds_at_the_end(rig: Rig) -> None:
    await rig.todo(todos=STEPS)
    said = await rig.todo(
        merge=True,
        todos=[
            {"id": "3", "content": "Say so"},
            {"id": "1", "status": "completed"},
            {"id": " 2 ", "content": "Mend it"},
        ],
    )
    assert said.splitlines() == [
        "[x] 1: Look",
        "[>] 2: Mend it",
        "[ ] 3: Say so",
        "3 items: 1 pending, 1 in progress, 1 completed",
    ]


async def test_without_merge_the_whole_plan_is_replaced(rig: Rig) -> None:
    await rig.todo(todos=STEPS)
    said = await rig.todo(todos=[{"id": "1", "content": "Rest", "status": "cancelled"}])
    assert said == "[-] 1: Rest\n1 item: 1 cancelled"


async def test_an_empty_list_ends_the_plan_and_its_document(rig: Rig) -> None:
    await rig.todo(todos=STEPS)
    assert await rig.todo(todos=[]) == "The plan is empty."
    assert await rig.documents.export(ME.owner) == []
    assert await rig.todo(todos=[]) == "The plan is empty."


async def test_every_problem_is_told_and_nothing_is_changed(rig: Rig) -> None:
    before = await rig.todo(todos=STEPS)
    with pytest.raises(ToolError) as refused:
        await rig.todo(
            merge=True,
            todos=[
                {"id": "1", "status": "completed"},
                {"id": "1", "status": "pending"},
                {"id": "new"},
                {"id": " ", "content": "x"},
                {"id": "2", "content": " "},
                {"id": "4", "content": "x" * (MOST_CHARACTERS + 1)},
            ],
        )
    assert refused.value.text.splitlines() == [
        "The plan was not changed:",
        "- todos[1].id: '1' was used before in this call",
        "- todos[2].content: needed, since there is no item 'new' to update",
        "- todos[3].id: one line of 1 to 100 characters is needed",
        "- todos[4].content: it is empty",
        "- todos[5].content: 4,001 characters; 4,000 is the most",
    ]
    assert await rig.todo() == before


async def test_a_plan_has_an_end(rig: Rig) -> None:
    full = [{"id": str(n), "content": "x" * MOST_CHARACTERS} for n in range(MOST_ITEMS)]
    assert (await rig.todo(todos=full)).endswith("256 items: 256 pending")
    with pytest.raises(ToolError, match="at most 256 items, this would be 257"):
        await rig.todo(merge=True, todos=[{"id": "one more", "content": "x"}])
    with pytest.raises(ToolError) as refused:
        await rig.todo(todos=[{"id": "same"}] * 300)
    assert len(str(refused.value)) < 2_000


async def test_an_unknown_status_is_refused_before_the_tool(rig: Rig) -> None:
    with pytest.raises(ToolError, match="expected one of pending, in_progress, completed, cancelled"):
        await rig.todo(todos=[{"id": "1", "content": "x", "status": "done"}])


@pytest.mark.parametrize(
    "other",
    [
        Session(id="another", origin="cli"),
        Session(id=ME.id, origin="cli", owner=Principal(person="hana")),
        Session(id=ME.id, origin="cli", owner=Principal(profile="work")),
        Session(id=ME.id.upper(), origin="cli"),
    ],
)
async def test_nobody_sees_the_plan_of_another(rig: Rig, other: Session) -> None:
    await rig.todo(todos=STEPS)
    assert await rig.todo(other) == "The plan is empty."
    await rig.todo(other, todos=[{"id": "9", "content": "theirs"}])
    assert "theirs" not in await rig.todo()


@given(*[st.text(max_size=300)] * 3, *[st.text(max_size=300)] * 3)
def test_no_name_leads_out_of_the_folder_or_to_anothers_plan(a: str, b: str, c: str, d: str, e: str, f: str) -> None:
    plans = Plans(FakeDocuments(), Path("/plans"))
    one, two = (
        plans.old_path(Session(id=session, origin="api", owner=Principal(profile=profile, person=person)))
        for session, profile, person in ((a, b, c), (d, e, f))
    )
    assert one.parent.parent == Path("/plans")
    assert ".." not in one.parts
    assert len(one.name) < 255
    assert len(one.parent.name) < 255
    assert (str(one).casefold() == str(two).casefold()) == ((a, b, c) == (d, e, f))


TEXT = st.text(min_size=1, max_size=40).filter(str.strip)


@given(st.lists(st.tuples(TEXT, TEXT, st.sampled_from(STATUSES)), max_size=8, unique_by=lambda item: item[0].strip()))
async def test_whatever_text_is_kept_comes_back(items: list[tuple[str, str, str]]) -> None:
    todos = [{"id": i, "content": c, "status": s} for i, c, s in items if i.strip().isprintable()]
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder))
        await rig.todo(todos=todos)
        found = [(i.id, i.content, i.status) for i in await rig.plans.read(ME)]
        assert found == [(t["id"].strip(), t["content"].strip(), t["status"]) for t in todos]


async def test_half_a_character_does_not_spoil_the_plan(rig: Rig) -> None:
    await rig.todo(todos=[{"id": "1", "content": "x\ud800"}])
    assert (await rig.plans.read(ME))[0].content == "x\ud800"


KEPT = '{"version": 1, "session": "s", "todos": [{"id": "1", "content": "Look\\ud800", "status": "in_progress"}]}'


def older(rig: Rig, text: str, session: Session = ME) -> Path:
    """Keep a plan as version 1.0 did."""
    path = rig.plans.old_path(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    return path


async def test_a_plan_of_an_older_version_goes_on(rig: Rig) -> None:
    path = older(rig, KEPT)
    assert (await rig.plans.read(ME))[0].content == "Look\ud800"
    assert not path.exists()
    assert (await rig.todo(todos=[{"id": "1", "status": "completed"}], merge=True)).startswith("[x] 1: Look")


async def test_one_that_was_taken_over_does_not_come_back(rig: Rig) -> None:
    await rig.todo(todos=STEPS)
    path = older(rig, KEPT)  # as after a death between the two writes
    assert (await rig.todo()).startswith("[ ] 1: Look\n[>] 2")
    assert not path.exists()
    older(rig, KEPT)
    assert await rig.todo(todos=[]) == "The plan is empty."
    assert await rig.todo() == "The plan is empty."


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "7",
        '{"version": 2, "todos": []}',
        '{"version": 1, "todos": [{"id": "1"}]}',
        '{"version": 1, "todos": [{"id": "1", "content": "x", "status": "done"}]}',
        '{"version": 1, "todos": 7}',
        "\xff",
        "[" * 100_000,
        f'{{"version": 1, "todos": "{"x" * 2_000_000}"}}',
    ],
)
async def test_a_damaged_plan_is_told_and_can_be_replaced(rig: Rig, damage: str) -> None:
    older(rig, damage)
    reading: dict[str, Any] = {}
    for arguments in (reading, {"todos": [{"id": "1", "status": "completed"}], "merge": True}):
        with pytest.raises(ToolError, match="is damaged") as told:
            await rig.todo(**arguments)
        assert "replaces it" in told.value.hint
    with pytest.raises(ToolError, match="is damaged"):
        await rig.command.run(ME, "")
    assert (await rig.todo(todos=STEPS)).startswith("[ ] 1: Look")


async def test_a_plan_that_is_too_large_changes_nothing(rig: Rig) -> None:
    before = await rig.todo(todos=STEPS)
    with pytest.raises(ToolError, match=r"not changed: A document of 3,\d+,\d+ bytes is too large"):
        await rig.todo(todos=[{"id": str(n), "content": "\u4e00" * MOST_CHARACTERS} for n in range(MOST_ITEMS)])
    assert await rig.todo() == before


async def test_the_person_sees_a_line_for_each_item(rig: Rig) -> None:
    assert await rig.command.run(ME, "") == "There is no plan in this conversation."
    await rig.todo(todos=[{"id": "1", "content": "Look\n  closely", "status": "completed"}, *STEPS[1:]])
    assert await rig.command.run(ME, "") == "    [x] Look closely\n    [>] Mend\n\n2 items: 1 in progress, 1 completed"


async def test_a_further_line_of_an_item_does_not_look_like_another(rig: Rig) -> None:
    said = await rig.todo(todos=[{"id": "1", "content": "Look\n[x] 2: no"}])
    assert said.splitlines() == ["[ ] 1: Look", "    [x] 2: no", "1 item: 1 pending"]


def test_the_tool_costs_little(rig: Rig) -> None:
    spec = tool_spec(rig.tool)
    assert len(json.dumps(spec.schema, separators=(",", ":"))) <= 400
    text = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
    assert len(json.dumps(text, separators=(",", ":"))) <= 600
    assert rig.tool.idempotent
    assert not rig.tool.effects


async def test_a_conversation_keeps_its_plan_and_shows_it(hermes: Any, scripted: Any) -> None:
    hermes.tmp_plugin(scripted([Call("todo", {"todos": STEPS}), Call("todo")], "Planned."))
    hermes.tmp_plugin("hermes_tool_todo")
    hermes.tmp_plugin("hermes_tool_commands")
    platform = FakePlatform(features=())
    for line in ("plan it", "/todo", "/new", "/todo"):
        await platform.service.say(line)
    await platform.service.leave()
    await hermes.serve(platform)
    planned, shown, _, fresh = [text for text in await platform.service.seen() if "waits for the end" not in text]
    assert planned == "Planned."
    assert shown == "    [ ] Look\n    [>] Mend\n\n2 items: 1 pending, 1 in progress"
    assert fresh == "There is no plan in this conversation."
