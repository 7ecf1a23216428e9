"""200 prompts, 20 at once; nothing is stored. Arguments: the model's URL, a folder (which it does not need)."""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def main() -> None:
    agent = Agent(OpenAIChatModel("echo", provider=OpenAIProvider(base_url=sys.argv[1], api_key="x")))
    free = asyncio.Semaphore(20)

    async def one(prompt: str) -> str:
        async with free:
            return (await agent.run(prompt)).output

    assert all(await asyncio.gather(*(one(f"prompt {number}") for number in range(200))))


asyncio.run(main())
