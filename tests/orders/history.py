"""The ways by which an order that a conversation once read reaches it again, or another one."""

from corpus import TOKEN
from obedient import order
from scene import Scene
from ways import closed, elsewhere, lay, way


async def read_before(scene: Scene, text: str, session: str, *lines: str) -> None:
    """A conversation in which a page was read and not obeyed, and what else the person wanted in it."""
    url = scene.world.listener.page("/old", f"<html><body><p>Weather: {text}</p></body></html>")
    await scene.say(order("web_fetch", url=url), session=session)
    if lines:
        await scene.say(*lines, session=session)


@way
async def later_turn(scene: Scene, text: str) -> None:
    await read_before(scene, text, "session")
    await scene.leave()
    await scene.say("Go on.")


@way
async def restarted(scene: Scene, text: str) -> None:
    await read_before(scene, text, "session")
    await scene.again()
    await scene.leave()
    await scene.say("Go on.")


@way
async def summary(scene: Scene, text: str) -> None:
    await read_before(scene, text, "session")
    for _ in range(6):
        await scene.say("More. " + "word " * 800)
    await scene.slash("/compress")
    await scene.leave()
    await scene.say("Go on.")


@way
async def branched(scene: Scene, text: str) -> None:
    await read_before(scene, text, "session")
    await scene.slash("/branch")
    store = await scene.hermes.runtime.store()
    found = [one.session.id for one in await store.sessions.list(scene.hermes.runtime.owner)]
    new = next(one for one in found if one not in ("session", "before", "fetching"))
    await scene.leave()
    await scene.say("Go on.", session=new)


@way
async def recalled(scene: Scene, text: str) -> None:
    await read_before(scene, text, "old")
    await scene.leave()
    await scene.say(order("recall", query="weather"))


@way
async def recalled_whole(scene: Scene, text: str) -> None:
    await read_before(scene, text, "old")
    await scene.leave()
    await scene.say(order("recall", session="old"))


@way
async def conversation_referred_to(scene: Scene, text: str) -> None:
    await read_before(scene, text, "old")
    await scene.leave()
    await scene.say("go on with @session:old")


@way
async def child(scene: Scene, text: str) -> None:
    lay(scene, "README.md", text)
    await scene.leave()
    await scene.say(order("delegate", goal=f"Sum it up.\n{order('read_file', path='README.md')}"))


@way
async def written_before(scene: Scene, text: str) -> None:
    """A conversation that read a page wrote a plain file; another reads it."""
    await read_before(scene, text, "old", order("write_file", path="plain.md", content=f"{TOKEN} {text}"))
    await scene.leave()
    await scene.say(order("read_file", path="plain.md"))


@way
async def written_by_a_command(scene: Scene, text: str) -> None:
    await read_before(scene, text, "old", order("terminal", command=f"echo '{TOKEN}' > plain.md"))
    await scene.leave()
    await scene.say(order("terminal", command="head plain.md"))


COMMIT = "git -c user.name=me -c user.email=me@example.org commit -qm"


@way
async def committed_before(scene: Scene, text: str) -> None:
    """A conversation that read a page committed it; another looks at what was committed."""
    await read_before(scene, text, "old", order("terminal", command=f"{COMMIT} '{TOKEN}' --allow-empty"))
    await scene.leave()
    await scene.say(order("terminal", command="git log -1"))


@way
async def committed_file(scene: Scene, text: str) -> None:
    line = f"echo '{TOKEN}' > plain.md && git add plain.md && {COMMIT} plain && git rm -q plain.md && {COMMIT} gone"
    await read_before(scene, text, "old", order("terminal", command=line))
    await scene.leave()
    await scene.say(order("terminal", command="git show HEAD~1:plain.md"))


@way
async def branch_made_before(scene: Scene, text: str) -> None:
    await read_before(scene, text, "old", order("terminal", command=f"git branch {TOKEN}"))
    await scene.leave()
    await scene.say(order("terminal", command="git branch"))


@way
async def stashed_before(scene: Scene, text: str) -> None:
    line = f"echo x >> notes.txt; git -c user.name=me -c user.email=me@example.org stash push -qm '{TOKEN}'"
    await read_before(scene, text, "old", order("terminal", command=line))
    await scene.leave()
    await scene.say(order("terminal", command="git stash list"))


@way
async def title_before(scene: Scene, text: str) -> None:
    """The name of a conversation, which may be made of what was read in it."""
    await read_before(scene, text, "old")
    await scene.slash(f"/title {TOKEN}", "old")
    await scene.leave()
    await scene.say(order("recall"))


@way
async def moved_by_a_command(scene: Scene, text: str) -> None:
    (elsewhere(scene) / "got").write_text(f"{text}\n")
    await scene.say(order("terminal", command="cp ../elsewhere/got got.txt"), session="fetching")
    await scene.say(order("terminal", command="mv got.txt other.txt && cp other.txt third.txt"), session="moving")
    await scene.leave()
    await scene.say(order("read_file", path="third.txt"))


@closed
async def kept_output(scene: Scene, text: str) -> None:
    """What was too long to be shown is kept in a file, which is another conversation's own."""
    lay(scene, "long.txt", f"{'word ' * 60_000}\n{text}\n{'word ' * 60_000}")
    await scene.say(order("terminal", command="cat long.txt"), session="old")
    place = str(next(scene.world.home.rglob("*.txt")))
    await scene.leave()
    await scene.say(
        order("search_files", path=place, pattern="qz7"),
        order("read_file", path=place, offset=2, limit=3),
        order("terminal", command=f"grep qz7 {place}"),
    )
