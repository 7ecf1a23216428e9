"""What somebody does in a random conversation: every command there is, messages, files, questions, background, API."""

import json
import random
from typing import Any

from hermes_core.values import frozen

__all__ = ["COMMANDS", "Step", "script_of"]


@frozen(kw_only=True)
class Step:
    """One thing that somebody does. ``tag`` names it, ``place`` is where, ``what`` depends on the ``kind``."""

    kind: str
    place: str
    tag: str
    text: str = ""
    answer: str = ""


# Every command there is, also those that are refused to a guest, with what is sensibly behind it; TAG is the name of
# the step.
COMMANDS = {
    "agents": ["", "stop all"], "approve": ["", "0123456789ab once"], "background": ["TAG. work"],
    "branch": ["", "TAG"], "commands": ["", "2"], "compress": ["", "preview"],
    "cron": ["", "add every day at 08:00 | TAG: work", "runs", "pause TAG", "remove tag-work"], "deny": ["", "no, TAG"],
    "goal": ["", "pause", "clear"],  # one that is set goes on by itself, so nobody knows when all is done
    "handoff": ["telegram", "TAG"], "help": ["", "model"], "history": ["", "3"], "insights": ["", "7"], "jobs": [""],
    "kanban": ["", "add TAG | TAG: work", "boards", "list"],
    "learn": ["TAG. how it went"], "learned": ["", "report"], "loop": ["", "stop"], "memory": ["", "reject 1"],
    "model": ["", "custom:word", "default"], "new": ["--once"], "permission": ["", "grants", "off"],
    "personality": ["", "pirate", "off"], "pin": ["", "TAG is pinned", "drop 1"], "queue": ["", "TAG. queued"],
    "reasoning": ["", "low", "hide"], "resume": ["latest", "TAG"], "retry": [""], "rewind": ["", "1"],
    "rollback": ["", "diff 1", "1"], "search": ["done", "canary"], "sessions": ["", "5"], "sethome": ["", "telegram"],
    "share": ["notes with nobody-TAG", "memory TAG with nobody"], "shared": ["", "accept TAG"],
    "skill": ["plan-a-change TAG. plan"], "skills": [""], "status": [""], "steer": ["TAG. more"], "stop": [""],
    "title": ["Title TAG"], "todo": [""], "tools": [""], "toolsets": [""],
    "undo": ["--once", "2 --once"], "unshare": ["TAG"],
    "usage": [""], "user": ["", "add TAG likes tea"], "version": [""], "whoami": [""], "why": [""], "yolo": [""],
    "answer": ["", "0123456789ab TAG"], "config": ["", "display.skin mono"], "debug": [""], "export": ["ben"],
    "forget": ["ben"], "leave": ["--once"], "pair": ["ABCD2345"], "people": ["", "block ben"], "platforms": [""],
    "plugins": [""], "profile": [""], "quiet": ["", "off"], "reload": [""], "slow": ["", "30"], "sources": [""],
}  # fmt: skip
_API = ("chat", "responses", "messages", "session", "command", "list", "read", "run", "fork", "title", "delete")
_ANSWERS = ("button", "number", "words", "slash")


def script_of(seed: object, person: str, steps: int, places: tuple[str, ...]) -> list[Step]:
    """The steps of a person; the same for the same seed."""
    dice = random.Random(f"script {person} {seed}")
    return [_step(dice, f"{person}-{number}", places) for number in range(1, steps + 1)]


def _step(dice: random.Random, tag: str, places: tuple[str, ...]) -> Step:
    kind = dice.choices(
        ("say", "order", "command", "file", "ask", "quote", "forward", "api", "press"), (3, 6, 9, 2, 2, 1, 1, 4, 1)
    )[0]
    place = dice.choice(places)
    text, answer = f"{tag}. canary", ""
    if kind == "order":
        text += "".join(f"\nORDER {name} {json.dumps(given)}" for name, given in _orders(dice, tag))
    elif kind == "command":
        name = dice.choice(sorted(COMMANDS))
        text = f"/{name} {dice.choice(COMMANDS[name])}".replace("TAG", tag).rstrip()
        answer = "done" if f"{tag}. " in text else ""
    elif kind == "ask":
        text += f'\nORDER clarify {{"question": "{tag}. Tea?", "choices": ["yes {tag}", "no {tag}"]}}'
        answer = dice.choice(_ANSWERS)
    elif kind == "api":
        answer = dice.choice(_API)
        name = dice.choice(sorted(COMMANDS.keys() - {"handoff", "sethome", "approve", "deny", "queue", "steer"}))
        text = f"/{name} {dice.choice(COMMANDS[name])}".replace("TAG", tag).rstrip() if answer == "command" else text
    return Step(kind=kind, place=place, tag=tag, text=text, answer=answer)


def _orders(dice: random.Random, tag: str) -> list[tuple[str, dict[str, Any]]]:
    """Calls of tools, one or two."""
    mine = f"{tag}.txt"
    table: list[list[tuple[str, dict[str, Any]]]] = [
        [("write_file", {"path": mine, "content": f"{tag}. canary\n"}), ("read_file", {"path": mine})],
        [("write_file", {"path": "same.txt", "content": f"{tag}. canary\n"}), ("list_files", {})],
        [("search_files", {"pattern": "canary"})],
        [("edit_file", {"path": "same.txt", "old": "canary", "new": f"bird of {tag}"})],
        [("memory", {"text": f"{tag}. likes canaries"})],
        [("memory", {"target": "user", "text": f"{tag}. is somebody"})],
        [("recall", {"query": "canary"})],
        [("recall", {})],
        [("recall", {"session": "latest"})],
        [("todo", {"todos": [{"id": tag, "content": f"{tag}. work", "status": "completed"}]})],
        [("delegate", {"goal": f"{tag}. look", "context": f"{tag}. canary"})],
        [("message", {"action": "targets"})],
        [("message", {"target": "origin", "text": f"{tag}. sent"})],
        [("message", {"target": "all", "text": f"{tag}. sent to all"})],
        [("skill_view", {})],
        [("terminal", {"command": "cat same.txt"})],
        [("web_fetch", {"url": "http://127.0.0.1:9/"})],
    ]
    return dice.choice(table)
