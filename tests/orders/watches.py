"""The ways by which an order comes when something changes that is watched: a page, or the name of a file."""

from scene import Scene
from ways import way

from hermes_core.types import Failed
from hermes_tool_watch.values import Watch
from hermes_tool_watch.watching import Watching, rows_of


async def changed(scene: Scene, one: Watch, change: object) -> None:
    """It is looked at, changes, and the turn of that is played with nobody there."""
    runtime = scene.hermes.runtime
    runtime.loader.load_contributing("services")
    (service,) = (one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Watching))
    await rows_of(service.ctx).put(one)
    await service.round()
    assert callable(change)
    change()
    await scene.leave()
    await service.round()
    (came,) = await rows_of(service.ctx).log()
    assert came.state == "done", came
    events = [event async for event in service.ctx.turns.resume(came.session)]
    assert events, "its turn was played"
    assert not [event for event in events if isinstance(event, Failed)]


@way
async def watched_page(scene: Scene, text: str) -> None:
    def page(told: str) -> str:
        return scene.world.listener.page("/watched", f"<html><body><p>{told.replace('<', '&lt;')}</p></body></html>")

    one = Watch(name="it", kind="page", what=page("Nothing yet."), prompt="Say what is new.", every=0.0)
    await changed(scene, one, lambda: page(text))


@way
async def watched_file_name(scene: Scene, text: str) -> None:
    folder = scene.world.root / "inbox"
    folder.mkdir()
    one = Watch(name="it", kind="path", what=str(folder), prompt="Say what came.", every=0.0, settle=0.0)
    await changed(scene, one, (folder / text.replace("/", "_")[:60]).touch)
