"""How both versions of the protocol write the same things: version 1, and the draft of version 2."""

import base64
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from hermes_platform_acp.cards import Card, Edit
from hermes_platform_acp.options import MODE, Option

__all__ = ["V1", "V2", "Shapes", "Update"]

JSON: TypeAlias = Any
Update: TypeAlias = dict[str, JSON]
_OUTPUT = 8_000  # characters of a running command that version 1 shows: each time all of them


class Shapes(ABC):
    """What is written differently. Lists of updates may be empty: not everything has a shape in both."""

    version: ClassVar[int]

    @abstractmethod
    def initialized(self, info: JSON, methods: Sequence[JSON]) -> JSON:
        """Answer ``initialize``."""

    @abstractmethod
    def session(self, options: Sequence[Option]) -> Update:
        """Say how a session is set that was opened."""

    @abstractmethod
    def chosen(self, options: Sequence[Option]) -> Update:
        """Answer who chose an option."""

    @abstractmethod
    def set(self, options: Sequence[Option]) -> list[Update]:
        """Tell that something was chosen elsewhere."""

    @abstractmethod
    def said(self, name: str, blocks: Sequence[JSON], *, live: bool) -> list[Update]:
        """Tell what the person said; ``live``, just now, in this editor."""

    def piece(self, who: Literal["agent_message", "agent_thought"], name: str, block: JSON) -> Update:
        """Tell a piece of what the model said or thought."""
        return {"sessionUpdate": f"{who}_chunk", "messageId": name, "content": block}

    @abstractmethod
    def begun(self, card: Card) -> list[Update]:
        """Tell that a tool is called."""

    @abstractmethod
    def output(self, card: Card, piece: str) -> list[Update]:
        """Tell what a running tool wrote: ``piece`` is new, ``card.output`` all of it so far."""

    @abstractmethod
    def ended(self, card: Card) -> list[Update]:
        """Tell what came of a call."""

    @abstractmethod
    def plan(self, entries: Sequence[Mapping[str, str]]) -> Update:
        """Tell the whole plan. An entry has ``content`` and ``status``."""

    @abstractmethod
    def commands(self, rows: Sequence[tuple[str, str, str]]) -> Update:
        """Tell the slash commands: name, what it does, what may follow it."""

    @abstractmethod
    def state(self, state: str, reason: str = "", error: JSON = None) -> list[Update]:
        """Tell that work goes on, waits for the person, or has ended, and with which ``error``."""

    @abstractmethod
    def permission(self, title: str, text: str, card: Card, options: Sequence[JSON]) -> JSON:
        """Ask for a yes: ``title`` is one line, ``text`` all of it."""

    def usage(self, used: int, size: int, cost: float) -> Update:
        """Tell how full the context is, and what was spent."""
        money = {"cost": {"amount": cost, "currency": "USD"}} if cost else {}
        return {"sessionUpdate": "usage_update", "used": used, "size": size, **money}

    def title(self, title: str) -> Update:
        """Tell what a session is called."""
        return {"sessionUpdate": "session_info_update", "title": title}

    def _rows(self, options: Sequence[Option], name: str) -> list[JSON]:
        return [
            {
                name: one.id,
                "name": one.name,
                "category": one.category,
                "type": "select",
                "currentValue": one.value,
                "options": [_named({"value": v.id, "name": v.name}, v.description) for v in one.values],
            }
            for one in options
        ]


class V1(Shapes):
    """Version 1."""

    version = 1

    def __init__(self, *, terminals: bool = False) -> None:
        """``terminals``: the editor shows output as a terminal, in the way that Zed's own agents write it."""
        self._terminals = terminals

    def initialized(self, info: JSON, methods: Sequence[JSON]) -> JSON:
        return {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True},
                "sessionCapabilities": {"list": {}, "resume": {}, "fork": {}, "close": {}, "delete": {}},
            },
            "authMethods": [{**one, "type": "terminal"} for one in methods],
            "agentInfo": info,
        }

    def session(self, options: Sequence[Option]) -> Update:
        modes = [
            {
                "currentModeId": one.value,
                "availableModes": [_named({"id": v.id, "name": v.name}, v.description) for v in one.values],
            }
            for one in options
            if one.id == MODE
        ]
        return {**({"modes": modes[0]} if modes else {}), "configOptions": self._rows(options, "id")}

    def chosen(self, options: Sequence[Option]) -> Update:
        return {"configOptions": self._rows(options, "id")}

    def set(self, options: Sequence[Option]) -> list[Update]:
        modes = [
            {"sessionUpdate": "current_mode_update", "currentModeId": one.value} for one in options if one.id == MODE
        ]
        return [*modes, {"sessionUpdate": "config_option_update", **self.chosen(options)}]

    def said(self, name: str, blocks: Sequence[JSON], *, live: bool) -> list[Update]:
        if live:
            return []  # it is on the screen of whoever said it
        return [{"sessionUpdate": "user_message_chunk", "messageId": name, "content": one} for one in blocks]

    def begun(self, card: Card) -> list[Update]:
        told = {"sessionUpdate": "tool_call", "toolCallId": card.id, "title": card.title, "kind": card.kind}
        content: JSON = {"content": [_diff(one) for one in card.edits]} if card.edits else {}
        if self._as_terminal(card):
            about = {"terminal_id": card.id, "cwd": card.cwd}
            content = {"content": [{"type": "terminal", "terminalId": card.id}], "_meta": {"terminal_info": about}}
        return [{**told, "status": "in_progress", "locations": card.places(), "rawInput": card.input, **content}]

    def _as_terminal(self, card: Card) -> bool:
        return self._terminals and bool(card.command)

    def output(self, card: Card, piece: str) -> list[Update]:
        if self._as_terminal(card):
            return [_update(card, _meta={"terminal_output": {"terminal_id": card.id, "data": piece}})]
        return [_update(card, content=[_words(card.output[-_OUTPUT:])])]

    def ended(self, card: Card) -> list[Update]:
        content = [*(_diff(one) for one in card.edits), *map(_content, card.blocks)]
        status = "failed" if card.failed else "completed"
        if not self._as_terminal(card):
            return [_update(card, status=status, content=content)]
        said = "" if card.output else "\n".join(str(one.get("text", "")) for one in card.blocks)
        over = {"terminal_exit": {"terminal_id": card.id, "exit_code": int(card.failed), "signal": None}}
        return [*(self.output(card, said) if said else ()), _update(card, status=status, _meta=over)]

    def plan(self, entries: Sequence[Mapping[str, str]]) -> Update:
        shown = [{**one, "priority": "medium"} for one in entries if one["status"] != "cancelled"]
        return {"sessionUpdate": "plan", "entries": shown}

    def commands(self, rows: Sequence[tuple[str, str, str]]) -> Update:
        shown = [
            {"name": name, "description": summary, **({"input": {"hint": usage}} if usage else {})}
            for name, summary, usage in rows
        ]
        return {"sessionUpdate": "available_commands_update", "availableCommands": shown}

    def state(self, state: str, reason: str = "", error: JSON = None) -> list[Update]:
        return []

    def permission(self, title: str, text: str, card: Card, options: Sequence[JSON]) -> JSON:
        call = {
            "rawInput": card.input,
            "toolCallId": card.id,
            "title": title,
            "kind": card.kind,
            "status": "pending",
            "content": [_words(text)],
        }
        return {"toolCall": call, "options": options}


class V2(Shapes):
    """The draft of version 2."""

    version = 2

    def initialized(self, info: JSON, methods: Sequence[JSON]) -> JSON:
        prompt: JSON = {"image": {}, "audio": {}, "embeddedContext": {}}
        return {
            "protocolVersion": 2,
            "info": info,
            "capabilities": {"session": {"prompt": prompt, "mcp": {"stdio": {}, "http": {}}, "delete": {}, "fork": {}}},
            "authMethods": [
                {**{k: v for k, v in one.items() if k != "id"}, "methodId": one["id"], "type": "terminal"}
                for one in methods
            ],
        }

    def session(self, options: Sequence[Option]) -> Update:
        return {"configOptions": self._rows(options, "configId")}

    def chosen(self, options: Sequence[Option]) -> Update:
        return {"configOptions": self._rows(options, "configId")}

    def set(self, options: Sequence[Option]) -> list[Update]:
        return [{"sessionUpdate": "config_option_update", **self.chosen(options)}]

    def said(self, name: str, blocks: Sequence[JSON], *, live: bool) -> list[Update]:
        return [{"sessionUpdate": "user_message", "messageId": name, "content": list(blocks)}]

    def begun(self, card: Card) -> list[Update]:
        told = _update(card, title=card.title, kind=card.kind, status="in_progress")
        told |= {"locations": card.places(), "rawInput": card.input}
        terminal = []
        if card.command:
            told["content"] = [{"type": "terminal", "terminalId": card.id}]
            place = {"cwd": card.cwd} if card.cwd else {}
            terminal = [{"sessionUpdate": "terminal_update", "terminalId": card.id, "command": card.command, **place}]
        elif card.edits:
            told["content"] = [_changes(one) for one in card.edits]
        return [told, *terminal]

    def output(self, card: Card, piece: str) -> list[Update]:
        if card.command:
            return [{"sessionUpdate": "terminal_output_chunk", "terminalId": card.id, "data": _bytes(piece)}]
        return [
            {"sessionUpdate": "tool_call_content_chunk", "toolCallId": card.id, "content": _words(piece)},
        ]

    def ended(self, card: Card) -> list[Update]:
        status = "failed" if card.failed else "completed"
        if card.command:
            text = "\n".join(block["text"] for block in card.blocks if block["type"] == "text")
            others = [_content(block) for block in card.blocks if block["type"] != "text"]
            content = [{"type": "terminal", "terminalId": card.id}, *others]
            whole = {"output": {"data": _bytes(text)}, "exitStatus": {}}
            shown = {"sessionUpdate": "terminal_update", "terminalId": card.id, **whole}
            return [shown, _update(card, status=status, content=content)]
        return [_update(card, status=status, content=[*map(_changes, card.edits), *map(_content, card.blocks)])]

    def plan(self, entries: Sequence[Mapping[str, str]]) -> Update:
        shown = [{**one, "priority": "medium"} for one in entries]
        return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "todo", "entries": shown}}

    def commands(self, rows: Sequence[tuple[str, str, str]]) -> Update:
        shown = [
            {
                "type": "command",
                "name": name,
                "description": summary,
                **({"input": {"type": "text", "hint": usage}} if usage else {}),
            }
            for name, summary, usage in rows
        ]
        return {"sessionUpdate": "available_commands_update", "availableCommands": shown}

    def state(self, state: str, reason: str = "", error: JSON = None) -> list[Update]:
        ended = {"stopReason": reason} if reason else {}
        wrong = {"stopReason": "error", "error": error} if error else {}
        return [{"sessionUpdate": "state_update", "state": state, **ended, **wrong}]

    def permission(self, title: str, text: str, card: Card, options: Sequence[JSON]) -> JSON:
        subject: JSON = {"type": "tool_call", "toolCall": {"toolCallId": card.id}}
        if card.command and card.cwd:
            subject = {"type": "command", "command": card.command, "cwd": card.cwd, "toolCallId": card.id}
        return {"title": title, "description": text, "subject": subject, "options": options}


def _update(card: Card, **more: JSON) -> Update:
    return {"sessionUpdate": "tool_call_update", "toolCallId": card.id, **more}


def _named(row: JSON, description: str) -> JSON:
    return {**row, "description": description} if description else row


def _words(text: str) -> JSON:
    return _content({"type": "text", "text": text})


def _content(block: JSON) -> JSON:
    return {"type": "content", "content": block}


def _diff(edit: Edit) -> JSON:
    return {"type": "diff", "path": edit.path, "oldText": edit.old, "newText": edit.new or ""}


def _changes(edit: Edit) -> JSON:
    operation = "add" if edit.old is None else "delete" if edit.new is None else "modify"
    told: JSON = {"type": "diff", "changes": [{"operation": operation, "path": edit.path}]}
    if edit.whole and (text := edit.patch()):
        told["patch"] = {"format": "git_patch", "text": text}
    return told


def _bytes(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode()
