"""Many prompts are answered once each, also when the program dies in the middle."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from hermes_agent.batch import answers
from hermes_core.embed import Hermes
from hermes_core.errors import BudgetReached, UserError
from hermes_core.types import Principal, TurnBounds

PROMPTS = [f"say the word {number}" for number in range(9)]
PROGRAM = """
    import asyncio, sys
    from hermes_agent.batch import answers
    from hermes_core.embed import Hermes

    async def main():
        async with Hermes(home=sys.argv[1], provider="offline") as hermes:
            prompts = [f"run `echo {number} >> log; sleep 0.2`" for number in range(12)]
            async for item in answers(hermes, prompts, name="words", concurrency=2):
                print(item.again, item.answer.reason if item.answer else item.error.text, flush=True)

    asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for name in [one for one in os.environ if one.startswith("HERMES_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


async def test_each_is_answered_once(tmp_path):
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        first = [item async for item in answers(hermes, [*PROMPTS, PROMPTS[0]], name="one", concurrency=3)]
        assert sorted(item.prompt for item in first) == sorted(PROMPTS)
        assert all(item.answer and item.answer.text and not item.again for item in first)
        again = [item async for item in answers(hermes, PROMPTS, name="one")]
        assert {item.prompt: str(item.answer) for item in again} == {item.prompt: str(item.answer) for item in first}
        assert all(item.again for item in again)
        assert not [item async for item in answers(hermes, [], name="one")]


async def test_none_at_once_is_refused_and_who_leaves_in_the_middle_leaves_nothing(tmp_path):
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        with pytest.raises(UserError, match="answer none"):
            _ = [item async for item in answers(hermes, PROMPTS, name="one", concurrency=0)]
        before = asyncio.all_tasks()
        asked = answers(hermes, PROMPTS, name="one", concurrency=2)
        waits = asyncio.create_task(anext(asked))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.wait([waits])
        await asked.aclose()
        assert not [one for one in asyncio.all_tasks() - before if "Queue.get" in str(one)]


async def test_another_name_or_person_asks_anew(tmp_path):
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        for name, owner in (("one", None), ("two", None), ("three", Principal(person="anna"))):
            [item] = [one async for one in answers(hermes, PROMPTS[:1], name=name, owner=owner)]
            assert item.answer
            assert not item.again


async def test_what_fails_is_told_and_asked_again(tmp_path):
    nobody = {"providers.custom.base_url": "http://127.0.0.1:9/v1", "agent.model_tries": 1}
    home = tmp_path / "home"
    async with Hermes(home=home, provider="custom", model="m", config=nobody) as hermes:
        [item] = [one async for one in answers(hermes, PROMPTS[:1], name="one")]
        assert item.error
        assert item.answer is None
    async with Hermes(home=home, provider="offline") as hermes:
        [item] = [one async for one in answers(hermes, PROMPTS[:1], name="one")]
        assert item.answer
        assert not item.again


async def test_who_looks_away_leaves_nothing_behind(tmp_path):
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        some = answers(hermes, PROMPTS, name="one", concurrency=2)
        assert (await anext(some)).answer
        await some.aclose()


async def test_two_at_once_do_not_both_ask(tmp_path):
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes, Hermes(home=tmp_path / "home") as other:
        some = answers(hermes, PROMPTS, name="one", concurrency=2)
        assert (await anext(some)).answer
        with pytest.raises(UserError, match="one is at work already"):
            _ = [item async for item in answers(other, PROMPTS, name="one")]
        assert [item.prompt async for item in answers(hermes, PROMPTS[:1], name="one", owner=Principal(person="bob"))]
        del some  # nobody closed it: it is, as soon as the loop gets to it
        assert len([item async for item in answers(hermes, PROMPTS, name="one")]) == len(PROMPTS)


@pytest.mark.long
def test_a_program_that_is_killed_goes_on_and_does_nothing_twice(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "batch.py").write_text(textwrap.dedent(PROGRAM))
    argv = [sys.executable, "batch.py", str(tmp_path / "home")]
    environment = {**os.environ, "HERMES_YOLO": "1", "HERMES_TRUST": "1"}
    seen = 0
    for _ in range(3):
        with subprocess.Popen(argv, cwd=work, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                seen += line.startswith("False done")
                if seen and seen % 3 == 0:
                    process.send_signal(signal.SIGKILL)
                    break
    last = subprocess.run(argv, cwd=work, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert len(last.stdout.splitlines()) == 12
    assert "error" not in last.stdout
    done = (work / "log").read_text().split()
    assert len(done) == len(set(done)), "something was done twice"
    assert len(done) >= 12 - 3 * 2  # a command that a death cut is told of, and not run again


async def test_a_budget_is_shared_and_counts_over_runs(tmp_path):
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        made = {"name": "one", "concurrency": 3}
        first = [item async for item in answers(hermes, PROMPTS, budget=TurnBounds(calls=4), **made)]
        assert sum(item.answer is not None for item in first) == 4
        assert all(isinstance(item.error, BudgetReached) for item in first if item.answer is None)
        again = [item async for item in answers(hermes, PROMPTS, budget=TurnBounds(calls=6), **made)]
        assert sum(item.again for item in again) == 4
        assert sum(item.answer is not None for item in again) == 6
        rest = [item async for item in answers(hermes, PROMPTS, **made)]
        assert all(item.answer for item in rest)
        with pytest.raises(UserError, match="no seconds"):
            _ = [item async for item in answers(hermes, PROMPTS, budget=TurnBounds(seconds=1), **made)]
        for wrong in (TurnBounds(money=float("nan")), TurnBounds(calls=-1), TurnBounds(money=float("inf"))):
            with pytest.raises(UserError, match="is none"):
                _ = [item async for item in answers(hermes, PROMPTS, budget=wrong, **made)]
