"""200 prompts, 20 at once, each stored: the same again would ask nothing. Arguments: the model's URL, a folder."""

import asyncio
import sys

from hermes_agent.batch import answers
from hermes_core.embed import Hermes


async def main() -> None:
    model = {"providers.custom.base_url": sys.argv[1], "providers.custom.api_key": "x"}
    async with Hermes(provider="custom", model="echo", config=model, home=sys.argv[2]) as hermes:
        prompts = [f"prompt {number}" for number in range(200)]
        found = [item async for item in answers(hermes, prompts, name="b", concurrency=20)]
    assert all(item.answer for item in found)


asyncio.run(main())
