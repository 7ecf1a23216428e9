"""A service posts, and what it posts is done, in a process that may be killed. Prints what each was answered with."""

import asyncio
import json
import time
from pathlib import Path

from hermes_core.testing import serve
from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve as forks
from hermes_platform_webhook import ordering
from hermes_platform_webhook.ordering import Ordering
from hermes_platform_webhook.rows import Rows
from hermes_platform_webhook.sealed import make_key, open_sealed, seal
from hermes_platform_webhook.signatures import sign
from hermes_platform_webhook.values import Subscription

SECRET = "a secret that both know"


async def deliver(home: str, many: int) -> None:
    """Post so many, each with a name of its own, and do what is accepted; then say what there is."""
    ordering._AT_ONCE = many  # all of them in one round; that they are spread over a minute is another test
    kernel = Bench(Path(home))
    kernel.tmp_plugin("hermes_platform_webhook")
    kernel.tmp_plugin("hermes_platform_gateway")
    kernel.tmp_plugin("hermes_provider_offline")
    async with kernel:
        runtime = kernel.runtime
        runtime.loader.load_contributing("services")
        made = [one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Ordering)]
        (route,) = (one for _, one in runtime.dispatch.contributions("register_routes") if one.name == "in")
        ctx, rows = made[0].ctx, Rows(made[0].ctx.store)
        make_key(ctx)
        if await rows.subscription("ci") is None:
            sealed = seal(ctx, "ci", SECRET)
            await rows.subscribe(Subscription(name="ci", kind="github", sealed=sealed, prompt="Say what happened."))
        assert open_sealed(ctx, "ci", (await rows.subscription("ci")).sealed) == SECRET
        for number in range(many):
            body = json.dumps({"number": number}).encode()
            headers = sign("github", SECRET, body, now=time.time(), delivery=f"d-{number}", event="push")
            answer = await serve(route, "POST", "/ci", body=body, headers=headers)
            print(json.dumps(["answered", number, answer.status]), flush=True)
            if number % 3 == 2:
                await made[0].round()
        await made[0].round()
        for row in await rows.log(most=1_000):
            print(json.dumps(["row", row.delivery, row.state, row.session, row.note]), flush=True)
        for session in await ctx.turns.interrupted():
            print(json.dumps(["turn", session]), flush=True)


def play(**order: object) -> None:
    asyncio.run(deliver(**order))  # type: ignore[arg-type]


if __name__ == "__main__":
    forks(play)
