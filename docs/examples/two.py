"""Two kernels in one process: nothing is global."""

import asyncio

from hermes_core import Hermes


async def main() -> None:
    async with Hermes(home="red", provider="offline") as red, Hermes(home="blue", provider="offline") as blue:
        await red.run("remember that my favorite color is red")
        await blue.run("remember that my favorite color is blue")
        print(await red.run("what do you remember about my favorite color?"))
        print(await blue.run("what do you remember about my favorite color?"))


asyncio.run(main())
