"""What a person is asked about, and what is written on nobody's word: each place and each effect of a call counts."""

import os
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest

from hermes_core.agent.policy.grants import Case
from hermes_core.agent.policy.risks import OWN_CODE, inside, own_code, risk_of
from hermes_core.agent.policy.taint import Seen, concern
from hermes_core.kinds import Tool
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, Message, Text, ToolCall, ToolResult

WRITES, READS, RUNS, SENDS = Effect.WRITE_FILES, Effect.READ_FILES, Effect.EXECUTE, Effect.SEND
STRAY = "writes outside the session's folder"
HERE = "runs a command on this machine"


async def _run(*_: object) -> str:
    return ""


@pytest.fixture
def case(tmp_path: Path):
    """Make a case in a folder, in which ``own`` is code that Hermes runs."""

    def make(
        *places: str, effects: Iterable[Effect] = (WRITES,), features: Iterable[Feature] = (), **arguments
    ) -> Case:
        place = FakeWorkspace(folder=tmp_path)
        place.features |= set(features)
        tool = Tool(name="t", description="x", params=object, run=_run, toolset="t", effects=frozenset(effects))
        return Case(
            call=ToolCall(id="1", name="t", arguments=arguments),
            tool=tool,
            effects=tool.effects,
            keys=[f"file:{path}" for path in places],
            workspace=place,
            machine="m",
            own=lambda path: path.startswith(os.path.realpath(tmp_path / "own")),
        )

    return make


RISKS = [
    # places, effects, features, what a person is told
    (["a"], {WRITES}, (), ""),
    (["a", "b/c", "."], {WRITES}, (), ""),
    (["a", "../b"], {WRITES}, (), STRAY),
    (["../b", "a"], {WRITES}, (), STRAY),
    (["/srv/x"], {WRITES, READS}, (), STRAY),
    ([], {WRITES}, (), STRAY),
    (["own/x.py"], {WRITES}, (), OWN_CODE),
    (["a", "own/x.py"], {WRITES}, (), OWN_CODE),
    (["own/x.py", "a"], {WRITES}, (), OWN_CODE),
    (["own/x.py"], {READS}, (), ""),
    (["/srv/x"], {READS}, (), ""),
    ([], {READS, Effect.RECALL, Effect.REMEMBER, Effect.ASK, Effect.NETWORK, Effect.DELEGATE}, (), ""),
    ([], {RUNS}, (), HERE),
    (["a"], {RUNS}, (), HERE),
    ([], {RUNS}, (Feature.ISOLATED,), ""),
    ([], {RUNS, SENDS}, (Feature.ISOLATED,), "sends something in your name"),
    (["a"], {RUNS, SENDS, WRITES}, (Feature.ISOLATED,), "sends something in your name"),
    (["../a"], {RUNS, WRITES}, (Feature.ISOLATED,), STRAY),
    (["a"], {SENDS}, (), "sends something in your name"),
    (["a"], {Effect.CONFIGURE}, (), "changes the settings of Hermes"),
    (["a"], {Effect.SCHEDULE, READS}, (), "plans work for later"),
]


def test_what_a_person_is_asked_about(case) -> None:
    found = [(row, risk_of(case(*row[0], effects=row[1], features=row[2]))) for row in RISKS]
    assert [(row, risk) for row, risk in found if risk != row[3]] == []


TAINTED = [
    (["a"], ""),
    (["a", "b/c"], ""),
    (["a", "../b"], STRAY),
    (["../b", "a"], STRAY),
    ([], STRAY),
    (["own/x.py"], OWN_CODE),
    (["a", "own/x.py"], OWN_CODE),
    (["a", ".git/hooks/pre-push"], "writes .git/hooks/pre-push, and "),
    ([".git/hooks/pre-push", "a"], "writes .git/hooks/pre-push, and "),
    (["a", "folder"], "may write any file in folder, also one that runs by itself"),
]


def test_what_is_not_written_on_the_word_of_a_page(case, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    wrong = []
    for places, said in TAINTED:
        risk = concern(case(*places), Seen(), understood=True)
        if not (risk.startswith(said) if said else not risk):
            wrong.append((places, said, risk))
    assert wrong == []


def test_what_lies_in_a_folder(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "in").mkdir(parents=True)
    (work / "out").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(work)
    for place in ("", ".", "a", "in/../a", str(work), f"{work}/in/a", "out/work/a", f"{tmp_path}/link/a"):
        assert inside(place, str(work)), place
    for place in ("..", "out", "out/a", f"{work}er/a", "/", "~/a", "in/../../a"):
        assert not inside(place, str(work)), place
    assert inside("a", str(tmp_path / "link"))
    assert not inside("a", ""), "a workspace without a folder holds nothing"


def test_what_is_code_that_hermes_runs(tmp_path: Path) -> None:
    asked = []

    def packages() -> list[str]:
        asked.append(1)
        return [str(tmp_path / "link"), str(tmp_path / "one.py")]

    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    own, site = own_code(packages), os.path.realpath(sysconfig.get_path("purelib"))
    real = os.path.realpath(tmp_path)
    assert asked == [], "it is asked for when it is needed"
    for path in ("real", "real/x.py", "real/deep/x", "one.py"):
        assert own(f"{real}/{path}"), path
    for path in ("really/x.py", "one.pyc", "x.py", "one.py2/x"):
        assert not own(f"{real}/{path}"), path
    assert own(f"{site}/any.pth")
    assert own(f"{site}/sitecustomize.py")
    assert not own(f"{site}/any.txt")
    assert not own(f"{site}/deep/any.pth")
    assert asked == [1]


ADDRESS = "https://good.org/a"
USER, PAGE = Message(role="user", parts=(Text(text="Look."),)), Text(text=f"See {ADDRESS}.")


def page(*parts: Text, untrusted: bool = True) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id="1", name="t", parts=parts),), untrusted=untrusted)


def called(**arguments: object) -> Message:
    return Message(role="assistant", parts=(ToolCall(id="1", name="t", arguments=arguments),))


GIVEN = [
    ([Message(role="user", parts=(Text(text=f"See {ADDRESS}."),))], True),
    ([Message(role="user", parts=(Text(text="Hi."), Text(text=f"({ADDRESS})")))], True),
    ([Message(role="user", parts=(PAGE,), untrusted=True)], False),
    ([Message(role="assistant", parts=(PAGE,))], False),
    ([page(PAGE)], True),
    ([page(Text(text="First."), PAGE, Text(text="Last."))], True),
    ([page(PAGE, untrusted=False)], False),
    ([called(x="other", y=ADDRESS), page(PAGE)], False),
    ([called(x=["other", {"y": f"{ADDRESS}?q"}]), page(PAGE)], False),
    ([called(x="other"), page(PAGE)], True),
    ([page(PAGE), called(x=ADDRESS)], True),
    ([page(Text(text=f"{ADDRESS}bc {ADDRESS}/d {ADDRESS}?q {ADDRESS}%20 {ADDRESS}-x"))], False),
    ([page(Text(text=f"{ADDRESS}bc, then {ADDRESS}, too"))], True),
    ([USER], False),
    ([], False),
]


def test_which_addresses_were_given() -> None:
    wrong = [messages for messages, given in GIVEN if Seen(messages=messages).was_given(ADDRESS) is not given]
    assert wrong == []


def test_what_is_no_address_names_no_host() -> None:
    words = "http://[bad https:///x http:// https://Good.Org:99/x?https://evil.org ann@mail.org ./a.org"
    assert Seen(messages=[Message(role="user", parts=(Text(text=words),))]).hosts() == {"good.org"}
