"""The way by which an order comes over HTTP: signed by a service that is heard, with text of anybody in it."""

import json
import secrets
import time

from scene import Scene
from ways import way

from hermes_core.testing import serve
from hermes_core.types import Failed
from hermes_platform_webhook.ordering import Ordering
from hermes_platform_webhook.rows import Rows
from hermes_platform_webhook.sealed import seal
from hermes_platform_webhook.signatures import new_secret, sign
from hermes_platform_webhook.values import Subscription

PROMPT = "Say what this is about."


async def posted(scene: Scene, payload: object, template: str) -> None:
    """Something is posted, accepted, and its turn played with nobody there."""
    runtime = scene.hermes.runtime
    runtime.loader.load_contributing("services")
    (service,) = (one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Ordering))
    (route,) = (one for label, one in runtime.dispatch.contributions("register_routes") if "webhook" in label)
    ctx = service.ctx
    secret = new_secret("github", secrets.token_bytes(32))
    sealed = seal(ctx, "ci", secret)
    wanted = Subscription(name="ci", kind="github", sealed=sealed, prompt=PROMPT, template=template)
    rows = Rows(ctx.store)
    await rows.subscribe(wanted)
    await scene.leave()
    body = json.dumps(payload).encode()
    headers = sign("github", secret, body, now=time.time(), delivery="d-1", event="issues")
    assert (await serve(route, "POST", "/ci", body=body, headers=headers)).status == 202
    await service.round()
    (came,) = await rows.log()
    assert came.state == "done", came
    events = [event async for event in ctx.turns.resume(came.session)]
    assert events, "its turn was played"
    assert not [event for event in events if isinstance(event, Failed)]


@way
async def webhook(scene: Scene, text: str) -> None:
    await posted(scene, {"action": "opened", "issue": {"title": "It fails", "body": text}}, "{__raw__}")


@way
async def webhook_template(scene: Scene, text: str) -> None:
    await posted(scene, {"action": "opened", "issue": {"title": text}}, "{action}: {issue.title}")
