"""Many prompts, each answered once, within a budget: stop it, start it again, and it goes on."""

import asyncio
import sys

from hermes_agent.batch import answers
from hermes_core.embed import Hermes
from hermes_core.types import TurnBounds


async def main(prompts: list[str]) -> None:
    async with Hermes(provider="offline", home="state") as hermes:
        budget = TurnBounds(calls=100, money=5.0)
        async for item in answers(hermes, prompts, name="reviews-1", concurrency=20, budget=budget):
            print("again" if item.again else "new", item.prompt, "|", item.answer or item.error)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or [f"say the word {number}" for number in range(5)]))
