"""What every client is served: ten tools, and what each of them works with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.types import JSON, Principal
from hermes_core.values import frozen
from hermes_platform_mcp_serve.config import Config
from hermes_platform_mcp_serve.tasks import Tasks

__all__ = ["Desk", "Served", "desks"]

_KEY: dict[str, JSON] = {"type": "string", "minLength": 1, "maxLength": 200}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": 200}
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**53}  # a number of a row; what is beyond fits no store
_CURSOR = {"type": "string", "maxLength": 200, "description": "the cursor of the last answer; without: from now on"}


@frozen
class Desk:
    """One request: the kernel's brokers, whose things it is about, the request as the SDK knows it, and the tasks."""

    ctx: PluginContext
    owner: Principal
    request: Any
    tasks: Tasks

    def answer(self, said: Mapping[str, JSON], *beside: Any) -> Any:
        """Return the answer to a call: JSON without secrets, also as text, and what goes ``beside`` it."""
        import json

        from mcp_types import CallToolResult, TextContent

        shown = self.masked(dict(said))
        text = TextContent(type="text", text=json.dumps(shown, ensure_ascii=False))
        return CallToolResult(content=[text, *beside], structured_content=shown)

    def masked(self, value: Any) -> Any:
        """Return the same without secrets."""
        if isinstance(value, str):
            return self.ctx.masks.text(value)
        if isinstance(value, dict):
            return {key: self.masked(one) for key, one in value.items()}
        return [self.masked(one) for one in value] if isinstance(value, list | tuple) else value


@frozen(kw_only=True)
class Served:
    """A tool for clients. ``looks``: it changes nothing; ``destroys``: what it does cannot be taken back."""

    name: str
    description: str
    schema: Mapping[str, JSON]
    run: Callable[[Desk, Mapping[str, Any]], Awaitable[Any]]
    looks: bool = True
    destroys: bool = False


def _shape(required: Sequence[str] = (), /, **properties: JSON) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def desks(config: Config) -> Sequence[Served]:
    """Return the tools that every client gets."""
    from hermes_platform_mcp_serve import asking, conversations, events, sending

    session: dict[str, JSON] = {"session_key": _KEY}
    found = [
        Served(
            name="conversations_list",
            description="List conversations, last used first; of one platform, or those that hold words.",
            schema=_shape(platform={"type": "string"}, limit=_LIMIT, search={"type": "string", "maxLength": 500}),
            run=conversations.listed,
        ),
        Served(
            name="conversation_get",
            description="Say what is known of one conversation.",
            schema=_shape(["session_key"], **session),
            run=conversations.one,
        ),
        Served(
            name="messages_read",
            description="Read the last messages of a conversation, or those around one.",
            schema=_shape(["session_key"], **session, limit=_LIMIT, around=_NUMBER),
            run=conversations.messages,
        ),
        Served(
            name="attachments_fetch",
            description="Fetch the files and pictures of one message.",
            schema=_shape(["session_key", "message_id"], **session, message_id=_NUMBER),
            run=conversations.attachments,
        ),
        Served(
            name="events_poll",
            description="Say what happened in conversations since a cursor: messages, and what waits for a yes.",
            schema=_shape(after_cursor=_CURSOR, **session, limit=_LIMIT),
            run=events.poll,
        ),
        Served(
            name="events_wait",
            description="Wait until something happens in conversations, for 30 seconds at most unless you say.",
            schema=_shape(
                after_cursor=_CURSOR, **session, timeout_ms={"type": "integer", "minimum": 0, "maximum": 300_000}
            ),
            run=events.wait,
        ),
        Served(
            name="channels_list",
            description="List the chats that a message can be sent to.",
            schema=_shape(platform={"type": "string"}),
            run=sending.channels,
        ),
        Served(
            name="messages_send",
            description="Send a message to a chat of the person, by its target or name in channels_list.",
            schema=_shape(
                ["target", "message"],
                target=_KEY,
                message={"type": "string", "minLength": 1, "maxLength": 20_000},
                key={"type": "string", "maxLength": 200, "description": "what is sent twice with one is sent once"},
            ),
            run=sending.send,
            looks=False,
        ),
        Served(
            name="permissions_list_open",
            description="List what waits for the person's yes.",
            schema=_shape(),
            run=asking.opened,
        ),
    ]
    if config.approvals:
        found.append(
            Served(
                name="permissions_respond",
                description="Answer what waits for the person's yes, in their words only: allow it this once, or deny.",
                schema=_shape(
                    ["id", "decision"],
                    id=_KEY,
                    decision={"type": "string", "enum": ["allow", "deny"]},
                    instead={"type": "string", "maxLength": 2000, "description": "what they want instead"},
                ),
                run=asking.respond,
                looks=False,
                destroys=True,
            )
        )
    return found
