"""What is done with tasks, whichever door it comes through: a command, a chat, the tools of a model."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Principal, Session
from hermes_tool_kanban.playing import config_of, store_of
from hermes_tool_kanban.values import AGAIN, PERSON, Attachment, Board, Comment, Options, Task
from hermes_tool_kanban.workspaces import here, leave
from hermes_tool_kit.used import is_awaited, mark_used

__all__ = ["Door", "archive", "attach", "comment", "create", "make_board", "running", "sound", "standing", "workers"]

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")
_WORKER = re.compile(r"[\w][\w.@-]{0,63}")
_EFFORTS = ("", "none", "minimal", "low", "medium", "high", "xhigh", "max")
_TITLE, _BODY, _REMARK = 200, 50_000, 20_000
_FILES = 50
_AMOUNTS = {"seconds": 7 * 86_400, "calls": 10_000, "retries": 100}
_OWNERS = ("folder", "grants")  # options that only whose Hermes it is gives


class Door:
    """Who does something with tasks, and where. ``session`` is the conversation it is done in, None at a terminal.

    ``written`` says that a person wrote it; ``author`` is what stands beside what is made. ``outside``: what is said
    comes from outside in part.
    """

    def __init__(
        self, ctx: PluginContext, owner: Principal, session: Session | None = None, *, written: bool = False,
        author: str = "", outside: bool = False,
    ) -> None:  # fmt: skip
        self.ctx, self.owner, self.session, self.written = ctx, owner, session, written
        self.author, self.outside = author or owner.person, outside
        self.rows = store_of(ctx)

    @classmethod
    def of(cls, ctx: PluginContext, session: Session, *, written: bool = False, author: str = "") -> "Door":
        """Return the door of a conversation. Raises UserError in one that several people share."""
        if session.asker != session.owner or "#" in session.owner.person:
            raise UserError("Boards belong to one person: see to them in a private chat.")
        outside = session.untrusted and not written
        return cls(ctx, session.owner, session, written=written, author=author, outside=outside)

    @property
    def is_owner(self) -> bool:
        """Whether it is the one whose Hermes this is."""
        return self.owner == self.ctx.owner

    async def admit(self) -> None:
        """Let in who may have boards. Raises UserError for a guest, and for who may do nothing."""
        mark_used(self.ctx)
        if self.is_owner:
            return
        rights = await self.ctx.host.rights(self.owner)
        if rights.refused or rights.silent or rights.role in ("", "guest", "blocked"):
            raise UserError(rights.refused or "Guests have no boards.")

    async def allow(self, verb: str, task: Task | None = None) -> None:
        """Refuse what this person may not do here. On their own boards everybody may all."""

    async def board(self, slug: str = "") -> Board:
        """Return a board by its name, or the usual one. Raises UnknownName."""
        return await self.rows.boards.take(self.owner.person, slug)

    async def task(self, words: str) -> Task:
        """Return a task of this person. Raises UnknownName."""
        return await self.rows.tasks.get(words, self.owner.person)


def workers(ctx: PluginContext) -> Sequence[str]:
    """Return who tasks can be assigned to here."""
    return sorted({ctx.owner.profile, *config_of(ctx).workers})


async def make_board(door: Door, slug: str, *, name: str = "", folder: str = "", switch: bool = False) -> Board:
    """Make a board. Raises UserError."""
    await door.admit()
    if not _SLUG.fullmatch(slug):
        raise UserError(f"{slug!r} is no name for a board.", hint="Use small letters, digits, ., - and _.")
    if folder:
        folder = _folder(folder)
    board = Board(id="", person=door.owner.person, slug=slug, name=door.ctx.masks.text(name), folder=folder)
    return await door.rows.boards.create(board, switch=switch)


async def create(
    door: Door, title: str, *, body: str = "", board: str = "", assignee: str = "", parents: Sequence[str] = (),
    priority: int = 0, status: str = "todo", due: float = 0.0, mark: str = "", options: Options | None = None,
    like: Task | None = None,
) -> tuple[Task, bool]:  # fmt: skip
    """Make a task, or find the one that was made under the same mark; whether it is new. Raises UserError.

    One that is made while ``like`` is worked on is worked on in the same place, and told of by that.
    """
    await door.admit()
    where = await door.board(board)
    given = options or Options()
    if door.is_owner and where.folder and given.workspace != "scratch" and not given.folder:
        given = evolve(given, folder=where.folder)
    if door.session and not (like or door.written):
        await _check_made(door, door.session.id)
    if like:
        await _check_fan(door, like)
        given = evolve(given, deliver=("local",))
    kept = await sound(door, given, assignee)
    if like:
        place = like.options
        kept = evolve(
            kept, workspace=place.workspace, folder=place.folder, place=place.place, level=place.level + 1,
            tenant=place.tenant,
        )  # fmt: skip
    task = Task(
        id="", board=where.id, person=door.owner.person, title=door.ctx.masks.text(" ".join(title.split())),
        body=door.ctx.masks.text(body.strip()), assignee=_worker(assignee), status=status, priority=priority,
        maker=door.author, outside=door.outside, mark=mark, due=due, options=kept,
    )  # fmt: skip
    _check(door, task)
    there = [(await door.task(one)).id for one in parents]
    return await door.rows.tasks.add(task, there, config_of(door.ctx).tasks)


async def _check_fan(door: Door, task: Task) -> None:
    """Refuse more tasks than one may lead to: a model that goes on splitting up would never end. Raises UserError."""
    config = config_of(door.ctx)
    if task.options.level >= config.levels:
        raise UserError(f"{task.id} is {task.options.level} levels deep: do it, or block it (kanban.levels).")
    if await door.rows.tasks.made_for(task.id) >= config.children:
        raise UserError(f"{config.children} tasks were made for {task.id}: more there may not be (kanban.children).")


async def _check_made(door: Door, session: str) -> None:
    """Refuse a model more tasks than it may make in a conversation: each is worked on, and costs. Raises UserError."""
    most = config_of(door.ctx).made
    if await door.rows.tasks.made_for(session) >= most:
        raise UserError(f"{most} tasks were made in this conversation, and more a model makes not (kanban.made).",
                        hint="A person makes more: /kanban add TITLE | BODY")  # fmt: skip


def _check(door: Door, task: Task) -> None:
    if not task.title:
        raise UserError("The task has no title.")
    if len(task.title) > _TITLE or len(task.body) > _BODY:
        raise UserError(f"That is too long: {_TITLE} characters are the most of a title, {_BODY:,} of a body.")
    if not -100 <= task.priority <= 100:
        raise UserError("The priority must be between -100 and 100.")
    if task.status not in ("todo", "triage", "scheduled"):
        raise UserError(f"A task does not begin as {task.status}.")
    if task.status == "scheduled" and not task.due:
        raise UserError("Say when it is scheduled.")
    if not door.written:
        from hermes_tool_kit.injection import scan

        if why := scan(f"{task.title}\n{task.body}"):
            raise UserError(f"That task is not kept: {why}.")


async def sound(door: Door, options: Options, assignee: str) -> Options:
    """Return options that can be kept. Raises UserError."""
    plain = Options()
    if not (door.is_owner and door.written):
        wrong = [name for name in _OWNERS if getattr(options, name) != getattr(plain, name)]
        if wrong:
            raise UserError(f"Only the owner of this Hermes gives a task its {wrong[0]}, in their own words.")
    if options.workspace not in ("scratch", "folder", "worktree"):
        raise UserError(f"There is no workspace {options.workspace!r}.", hint="Say scratch, folder or worktree.")
    if options.workspace == "scratch":
        options = evolve(options, folder="", place="")
    elif not options.folder:
        raise UserError(f"A {options.workspace} needs the folder.", hint="Say --folder, or give the board one.")
    else:
        options = evolve(options, folder=_folder(options.folder), place=here())
    if options.effort not in _EFFORTS:
        raise UserError(f"There is no effort {options.effort!r}.", hint=f"Say one of {', '.join(_EFFORTS[1:])}.")
    if options.tenant and not _SLUG.fullmatch(options.tenant):
        raise UserError(f"{options.tenant!r} is no name for a tenant.", hint="Use small letters, digits, ., - and _.")
    if options.again not in AGAIN:
        raise UserError(f"There is no again {options.again!r}.", hint=f"Say one of {', '.join(AGAIN)}.")
    for name, most in _AMOUNTS.items():
        if not 0 <= getattr(options, name) <= most:
            raise UserError(f"{name} is {getattr(options, name)}, and must be between 0 and {most:,}.")
    reviewer = _worker(options.reviewer)
    if reviewer and reviewer == assignee:
        raise UserError(f"{reviewer} does the task, and so cannot review it.", hint=f"Or say {PERSON}.")
    return evolve(options, deliver=await _targets(door, options.deliver))


def _folder(text: str) -> str:
    folder = Path(text).expanduser()
    if not folder.is_absolute() or not folder.is_dir():
        raise UserError(f"{text} is no folder here.", hint="Write its whole path.")
    return str(folder)


def _worker(name: str) -> str:
    if name and not _WORKER.fullmatch(name):
        raise UserError(f"{name!r} is no name of a worker.", hint="Use letters, digits, ., -, @ and _.")
    return name


async def _targets(door: Door, given: Sequence[str]) -> Sequence[str]:
    """Return who is told how it ends: who was named, else the chat that it is made in. Raises UserError."""
    wanted = [one.strip() for text in given for one in text.split(",") if one.strip()]
    if not wanted:
        if door.session is None:
            wanted = [config_of(door.ctx).deliver]
        else:
            with contextlib.suppress(UserError):
                chats = await door.ctx.messages.find(door.owner, "origin", door.session)
                return tuple(chat.address for chat in chats)
            return ()
    found: list[str] = []
    for target in wanted:
        if target == "local":
            continue
        chats = await door.ctx.messages.find(door.owner, target, door.session)
        found += [chat.address for chat in chats] if target == "origin" else [target]
    return tuple(dict.fromkeys(found))


async def comment(door: Door, task: Task, text: str) -> Comment:
    """Remark something about a task. Raises UserError."""
    text = door.ctx.masks.text(text.strip())
    if not text or len(text) > _REMARK:
        raise UserError(f"A remark has between one and {_REMARK:,} characters.")
    made = Comment(id="", task=task.id, person=door.owner.person, author=door.author, text=text, written=door.written,
                   outside=door.outside)  # fmt: skip
    return await door.rows.tasks.comment(made)


async def attach(door: Door, task: Task, name: str, data: bytes, media: str = "") -> Attachment:
    """Keep a file with a task. Raises UserError."""
    import mimetypes

    most = config_of(door.ctx).megabytes
    if len(data) > most * 1_000_000:
        raise UserError(f"{name} is too large: {most} MB are the most (kanban.megabytes).")
    name = Path(name.strip().replace("\\", "/")).name
    if name in ("", "..") or len(name) > 200 or not name.isprintable():
        raise UserError(f"{name!r} is no name of a file.")
    media = media or mimetypes.guess_type(name)[0] or "application/octet-stream"
    file = Attachment(id="", task=task.id, person=door.owner.person, name=name, media=media, size=len(data),
                      author=door.author, outside=door.outside)  # fmt: skip
    return await door.rows.tasks.attach(file, data, _FILES)


async def archive(door: Door, task: Task) -> tuple[Task, str]:
    """Take a task off its board, and its place away where nothing is lost; what stays of that, in words."""
    gone = await door.rows.moves.archive(task)
    return gone, await leave(door.ctx, gone) if not task.run else ""


async def running(door: Door, task: Task) -> str:
    """Say why nobody takes up a task that is ready, where that is so."""
    return "".join(await standing(door, [task]))


async def standing(door: Door, tasks: Sequence[Task]) -> Mapping[str, str]:
    """Return why nobody takes up tasks that are ready, each reason with one of them."""
    free = [one for one in tasks if one.status in ("ready", "review") and not one.run]
    there = await door.rows.claims.dispatchers() if free else ()
    program, known = door.ctx.program, {name for one in there for name in one.workers.split(", ")}
    found: dict[str, str] = {}
    for task in free:
        who = task.assignee if task.status == "ready" else task.options.reviewer
        if who == PERSON:
            continue
        if task.options.place not in ("", here()):
            why = f"Its folder is on the machine {task.options.place}: only what runs there works on it."
        elif not there:
            if is_awaited(door.ctx):  # a dispatcher of this home is about to look for the first time
                continue
            why = f"Nobody works on tasks now: start `{program} gateway run`, or `{program} kanban daemon`."
        elif who and who not in known:
            why = f"Nobody here is {who}: there is {', '.join(sorted(known - {''}))}."
        else:
            continue
        found.setdefault(why, task.id)
    return found
