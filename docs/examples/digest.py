"""Looks at each note of a folder and writes a digest, in steps that are done once, also when this is killed."""

import asyncio
import sys
from pathlib import Path

from hermes_agent.flows import Done, ask, do, each, run, sequence
from hermes_core.embed import Hermes


def notes(folder: str) -> list[Path]:
    """Find the notes; the flow goes on with these, also where there are others by then."""
    return sorted(Path(folder).glob("*.md"))


def write(answers: list[str]) -> int:
    """Write the digest. A death before this is stored has it written again."""
    Path("digest.txt").write_text("\n".join(answers) + "\n")
    return len(answers)


DIGEST = sequence(
    do(notes),
    each(ask(lambda path: f"run `wc -w {path} | tee -a log`"), at_once=1),
    do(write),
)


def told(step: Done) -> None:
    print(step.path, "was there" if step.again else "done", flush=True)


async def main(folder: str) -> None:
    async with Hermes(provider="offline", yolo=True) as hermes:
        print(await run(hermes, DIGEST, folder, name="digest-1", told=told), "notes")


asyncio.run(main(*sys.argv[1:]))
