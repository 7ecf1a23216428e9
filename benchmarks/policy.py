"""How long the policy point looks at a call: ``benchmarks/policy.py [--rounds N]``. CPU time, after the first import.

Everyday commands are the corpus of the guard's tests, judged in mode ``ask`` with 50 grants in a store of its own; a
long one is 4 KB of them in a row, or 4 KB in one here-document. The first look at each command is measured: what was
judged before is known.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence

from guard import CORPUS, long_ones

from hermes_core.distribution import HERMES
from hermes_core.embed import Hermes
from hermes_core.kinds import Tool
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Approval, Effect, Principal, Session, ToolCall, Verdict


async def _run(*_: object) -> str:
    return ""


TOOL = Tool(
    name="terminal", description="x", params=object, run=_run, toolset="terminal", effects=frozenset({Effect.EXECUTE}),
    touches=lambda _: (),
)  # fmt: skip


async def milliseconds(hermes: Hermes, commands: Sequence[str], rounds: int) -> list[float]:
    """CPU milliseconds of each judged call, sorted."""
    policy, session, place = hermes.runtime.policy, Session(id="s", origin="cli"), FakeWorkspace()
    place.cwd = "/work/project"

    async def no(*_: object) -> Verdict:
        return Verdict(outcome="deny")

    times = []
    for number in range(rounds):
        for at, command in enumerate(commands):
            call = ToolCall(id="1", name="terminal", arguments={"command": f"{command} "[:-1] + " " * number})
            began = time.process_time()
            await policy.judge(session, call, TOOL, None, place, no)
            times.append((time.process_time() - began) * 1000)
            if not at % 50:
                await asyncio.sleep(0)
    return sorted(times)


async def fill(hermes: Hermes) -> None:
    """Fifty grants that fit nothing."""
    store, session = await hermes.runtime.store(), Session(id="s", origin="cli", owner=Principal())
    await store.sessions.create(session)
    for number in range(50):
        rule = f'{{"kind":"exact","effects":["execute"],"machine":"local","folder":"/x","words":["a{number}"]}}'
        asked = Approval(id=str(number), session_id="s", subject="x", choices=("always",), rules=((rule, "x", "/x"),))
        await store.approvals.ask(session, asked)
        await store.approvals.settle(session.owner, asked.id, Verdict(outcome="allow", choice="always"))


async def measure(rounds: int) -> None:
    """Measure and print."""
    everyday = [line.replace("␤", "\n") for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]
    single = [c for c in everyday if "\n" not in c and not c.endswith("&")]
    script = "cat > notes.md <<'EOF'\n" + "A line of text, as models write them.\n" * 105 + "EOF\ngit add notes.md"
    with tempfile.TemporaryDirectory() as folder:
        async with Hermes(HERMES, home=folder, provider="offline") as hermes:
            hermes.runtime.load_hooks()
            await fill(hermes)
            await milliseconds(hermes, everyday[:50], 1)
            for name, commands, bound in (
                ("everyday", everyday, 0.3),
                ("4 KB of everyday ones", long_ones(single, 40), 2.0),
                ("4 KB here-document", [script] * 40, 2.0),
            ):
                times = await milliseconds(hermes, commands, rounds)
                p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
                missed = (p50 if name == "everyday" else p99) > bound
                print(
                    f"{name:24} p50 {p50:6.3f} ms   p99 {p99:6.3f} ms   bound {bound:g} ms"
                    f"{'   missed' if missed else ''}"
                )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    asyncio.run(measure(rounds))


if __name__ == "__main__":
    main()
