"""Between the protocol's messages and ours: what a client says, what an answer holds, and tasks as they are stored."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from a2a.types import Artifact, Part, Role, Task, TaskState, TaskStatus
from a2a.types import Message as Told
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from google.protobuf.json_format import MessageToDict, MessageToJson, Parse, ParseDict

from hermes_core.brokers import MasksBroker
from hermes_core.types import Blob, Message, PastTurn, Text, TurnResult
from hermes_core.types import Part as Ours
from hermes_platform_a2a.rows import Row

__all__ = ["ANSWER", "FROM", "STATES", "finished", "message_of", "row_of", "said", "status", "task_of", "words_of"]

ANSWER = "answer"  # the artifact that holds the words of an answer; files have one each
FROM = "another agent"
_NAMES = {
    "submitted": TaskState.TASK_STATE_SUBMITTED,
    "working": TaskState.TASK_STATE_WORKING,
    "asking": TaskState.TASK_STATE_INPUT_REQUIRED,
    "completed": TaskState.TASK_STATE_COMPLETED,
    "failed": TaskState.TASK_STATE_FAILED,
    "canceled": TaskState.TASK_STATE_CANCELED,
}
STATES = {number: name for name, number in _NAMES.items()}
_ENDS = {"done": "completed", "failed": "failed", "interrupted": "canceled"}
_LONGEST = 200_000  # characters of a message
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_FILES = 8_000_000  # bytes of the files of one answer; those beyond are named only


def message_of(told: Told) -> Message:
    """Return what a client says. No person wrote it here: it is from outside, and quoted. Raises A2AError."""
    parts = [_part(one) for one in told.parts]
    size = sum(len(one.text) for one in parts if isinstance(one, Text))
    if size > _LONGEST:
        raise InvalidParamsError(f"A message has at most {_LONGEST:,} characters.")
    if not any(isinstance(one, Blob) or one.text.strip() for one in parts):
        raise InvalidParamsError("The message says nothing.")
    return Message(role="user", parts=tuple(parts), untrusted=True)


def words_of(told: Told) -> str:
    """Return the words of a message, as the answer to a question. Raises A2AError."""
    return "\n".join(one.text for one in message_of(told).parts if isinstance(one, Text)).strip()


def _part(part: Part) -> Text | Blob:
    kind, media = part.WhichOneof("content"), part.media_type.partition(";")[0].strip().lower()
    if kind == "text":
        return Text(text=part.text, quotes=FROM)
    if kind == "data":
        return Text(text=json.dumps(MessageToDict(part.data), ensure_ascii=False), quotes=FROM)
    if kind == "raw" and media in _PICTURES and part.raw:
        return Blob(media_type=media, data=part.raw, name=part.filename[:200])
    if kind == "raw" and (media.startswith("text/") or media == "application/json"):
        try:
            text = part.raw.decode()
        except UnicodeDecodeError:
            raise ContentTypeNotSupportedError(f"A file of {media} is no UTF-8.") from None
        return Text(text=f"{part.filename[:200]}\n{text}".strip(), quotes=FROM)
    if kind == "url":
        raise ContentTypeNotSupportedError("Addresses are not fetched here: send what is there.")
    raise ContentTypeNotSupportedError(f"Text, JSON and pictures are read here, not {media[:80] or 'that'}.")


def said(task: Task, text: str) -> Told:
    """Return a message of the agent's in a task."""
    parts = [Part(text=text)]
    return Told(message_id=uuid4().hex, role=Role.ROLE_AGENT, parts=parts, task_id=task.id, context_id=task.context_id)


def status(task: Task, state: str, text: str = "") -> TaskStatus:
    """Return a state from now on, and what the agent says of it."""
    found = TaskStatus(state=_NAMES[state], message=said(task, text) if text else None)
    found.timestamp.FromDatetime(datetime.now(UTC))
    return found


def finished(task: Task, end: TurnResult | PastTurn, masks: MasksBroker) -> Task:
    """Return a task at the end of its turn, with what that gave; no secret goes out with it."""
    made = Task()
    made.CopyFrom(task)
    del made.artifacts[:]
    state = _ENDS.get(end.state, "failed")
    made.status.CopyFrom(status(task, state, masks.text(end.error) if state != "completed" else ""))
    if end.state == "done":
        made.artifacts.extend(_artifacts(end.answer, end.parts if isinstance(end, TurnResult) else (), masks))
    return made


def _artifacts(answer: str, parts: Sequence[Ours], masks: MasksBroker) -> list[Artifact]:
    left = _FILES
    found = [Artifact(artifact_id=ANSWER, name="Answer", parts=[Part(text=masks.text(answer))])] if answer else []
    for number, one in enumerate((part for part in parts if isinstance(part, Blob)), 1):
        held = Part(text=f"[{one.name or one.media_type} is not sent: it is too large, or not at hand]")
        if one.data is not None and len(one.data) <= left:
            left -= len(one.data)
            held = Part(raw=one.data, media_type=one.media_type, filename=one.name)
        found.append(Artifact(artifact_id=f"file-{number}", name=one.name or one.media_type, parts=[held]))
    return found


def row_of(task: Task, person: str) -> Row:
    """Return how a task is stored."""
    bare = Task()
    bare.CopyFrom(task)
    del bare.artifacts[:]
    artifacts = json.dumps([MessageToDict(one) for one in task.artifacts]) if task.artifacts else ""
    state = STATES[task.status.state]
    return Row(
        id=task.id, person=person, context=task.context_id, state=state, body=MessageToJson(bare), artifacts=artifacts
    )


def task_of(row: Row) -> Task:
    """Return a task as it was stored."""
    task: Task = Parse(row.body, Task(), ignore_unknown_fields=True)
    for one in json.loads(row.artifacts) if row.artifacts else []:
        task.artifacts.append(ParseDict(one, Artifact(), ignore_unknown_fields=True))
    return task
