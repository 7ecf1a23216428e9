"""A house where ann and oli have something to lose: private words, files, memory, open questions. Others try to get it.

oli is the owner, ann a guest as ben and cat are, eve a stranger. What is private of somebody has their canary in it.
"""

import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any

from people_house import House, until
from people_model import last_said
from people_telegram import PLACES, number_of, said

__all__ = ["OTHERS", "QUESTIONS", "VICTIMS", "World", "canary", "secret"]

VICTIMS = ("ann", "oli")
OTHERS = ("ben", "cat", "eve")
QUESTIONS = (("ann", "dm"), ("ann", "group"), ("ann", "thread"), ("oli", "dm"), ("oli", "group"))  # a thread has one
_BESIDE = re.compile(
    r"state\.db|/logs/|said/|/sessions/|outputs|tool-checkpoints|telegram|/cache/"
)  # what was said, and files as they came
_QUIET = 0.15  # seconds without anything new, after which what was tried is over


def canary(who: str) -> str:
    """What stands in everything private of somebody: a word that others may look for, and one that they never know."""
    return f"kanarie {secret(who)}"


def secret(who: str) -> str:
    """The word that only somebody's own things hold."""
    return f"VIOLETT{who.upper()}"


class World:
    """Who has what. ``sessions``, ``responses`` and ``runs`` are by person; ``asked`` by person and place."""

    def __init__(self, house: House) -> None:
        self.house, self.number = house, 0
        self.known: dict[str, dict[str, Any]] = {}  # how everybody's things are, where nothing went wrong since
        self.judged, self.known_leaks = 0, set[str]()
        self.sessions: dict[str, str] = {}
        self.responses: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.held: dict[str, str] = {}  # by person: the call that a turn of theirs waits for a client's result of
        self.asked: dict[tuple[str, str], dict[str, Any]] = {}
        for who in VICTIMS:
            self._furnish(who)

    # --- what people have -------------------------------------------------------------------------------------------

    def folder(self, who: str) -> Path:
        """Where somebody's sessions work."""
        if who == "oli":
            return self.house.home.work
        return next(one for one in (self.house.home.home / "people").glob(f"{who}-*") if one.is_dir()) / "work"

    def _furnish(self, who: str) -> None:
        mine = canary(who)
        orders = (
            f'ORDER write_file {{"path": "secret.txt", "content": "{mine} in a file"}}\n'
            f'ORDER memory {{"text": "{mine} is remembered"}}'
        )
        self.turn(who, "dm", f"{mine} was said\n{orders}", consent=True)
        self.say(who, "dm", f"/title plan of {who}")
        until(lambda: any("is now called" in said(m) for m in self.house.phones.shown(who, "dm")), "no title")
        made = self.api(who, "POST", "/api/sessions", {"title": f"plan of {who} over the API"})
        self.sessions[who] = made["id"]
        self.api(who, "POST", f"/api/sessions/{made['id']}/chat", {"input": f"{self.tag(who)} {mine} over the API"})
        body = {"model": "hermes", "input": f"{self.tag(who)} {mine} response"}
        self.responses[who] = self.api(who, "POST", "/v1/responses", body)["id"]
        self.runs[who] = self.api(who, "POST", "/v1/runs", {"input": f"{self.tag(who)} {mine} run"})["run_id"]
        path = f"/v1/runs/{self.runs[who]}"
        until(lambda: self.api(who, "GET", path)["status"] == "completed", "the run does not end")
        once = {"model": "hermes", "messages": [{"role": "user", "content": f"{self.tag(who)} {mine} once"}]}
        assert self.house.ask(who, "POST", "/v1/chat/completions", once, **{"idempotency-key": f"key-{who}"})[0] == 200
        look = {"name": "look", "parameters": {"type": "object", "properties": {}}}
        asked = f"{self.tag(who)} {mine} held\nORDER client_look {{}}"
        held = {"model": "hermes", "messages": [{"role": "user", "content": asked}]}
        tools = [{"type": "function", "function": look}]
        answer = self.api(who, "POST", "/v1/chat/completions", {**held, "tools": tools})
        self.held[who] = answer["choices"][0]["message"]["tool_calls"][0]["id"]
        self.house.held += 1

    def arm(self) -> None:
        """Let the victims have open questions everywhere; those that are gone are asked again."""
        for who, place in QUESTIONS:
            if not self._open(who, place):
                self._ask(who, place)

    def prepare(self) -> dict[str, dict[str, Any]]:
        """Let there be something to lose, also after something was lost; how it is."""
        if self.asked:
            self._renew()
        self.arm()
        self.settle()
        return {who: self.state(who) for who in VICTIMS}

    def _renew(self) -> None:
        """Begin anew everywhere, after something went wrong: what went wrong is not to be found again."""
        for who in ("ann", "oli", "ben"):
            for place in PLACES if who == "ben" else [place for one, place in QUESTIONS if one == who]:
                self.begin_anew(who, place)
        self.asked.clear()

    def begin_anew(self, who: str, place: str) -> None:
        """Let somebody end what runs, and begin a new conversation; where all share one an admin does."""
        who = "oli" if place == "thread" else who
        for text in ("/stop", "/new --once"):
            before = len(self.seen(who))
            self.say(who, place, text)
            until(lambda: len(self.seen(who)) > before, f"{text} is not answered")  # noqa: B023 - it is called here
            self.settle()

    def _open(self, who: str, place: str) -> bool:
        """Whether the last question there still waits: its turn has not ended."""
        one = self.asked.get((who, place))
        return bool(one) and not any(f"done {one['tag']}." in said(m) for m in self.house.phones.shown(who, place))

    def _ask(self, who: str, place: str) -> None:
        tag = self.tag(who)
        words = f"Question {tag[:-1]} {canary(who) if place == 'dm' else ''}?"
        order = json.dumps({"question": words, "choices": ["yes", "no"]})
        self.say(who, place, f"{tag} go\nORDER clarify {order}")

        def there() -> list[dict[str, Any]]:
            found = [m for at in PLACES for m in self.house.phones.shown(who, at)]
            return [m for m in found if words in said(m)]

        asked = until(there, f"{who} is not asked in {place}: {self.seen(who)[-3:]}")[-1]
        self.asked[who, place] = {**asked, "tag": tag.rstrip(".")}

    # --- doing ------------------------------------------------------------------------------------------------------

    def tag(self, who: str) -> str:
        self.number += 1
        return f"{who}-{self.number}."

    def say(self, who: str, place: str, text: str, **more: Any) -> dict[str, Any]:
        return self.house.phones.say(who, place, text, **more)

    def turn(self, who: str, place: str, text: str, *, consent: bool = False, **more: Any) -> str:
        """Say something, and wait for the answer."""
        tag, given = self.tag(who), set[str]()
        self.say(who, place, f"{tag} {text}", **more)

        def there() -> bool:
            for one in self.house.phones.shown(who, place):
                found = re.search(r"/approve (\w+) ", said(one))
                if consent and found and found[1] not in given:
                    given.add(found[1])
                    self.say(who, place, f"/approve {found[1]}")
            return any(f"done {tag}" in text for text in self.seen(who))

        until(there, f"{who} is not answered in {place}: {self.seen(who)[-3:]}")
        return next(text for text in self.seen(who) if f"done {tag}" in text)

    def seen(self, who: str) -> list[str]:
        """What somebody was shown, in all places."""
        return [said(m) for place in PLACES for m in self.house.phones.shown(who, place)]

    def api(self, who: str, method: str, path: str, body: Any = None) -> Any:
        status, text = self.house.ask(who, method, path, body)
        assert status < 300, (who, method, path, status, text)
        return json.loads(text)

    def bring(self, who: str, place: str, text: str, fields: dict[str, Any]) -> None:
        """Let somebody send a message with words of others in it, and wait until it was seen to."""
        before = len(self.seen(who)), len(self.house.model.bodies)
        self.say(who, place, text, **fields)
        deadline = time.monotonic() + 3  # some of it is nothing to say anything to
        while before == (len(self.seen(who)), len(self.house.model.bodies)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.settle()

    def done(self, mark: str) -> list[str]:
        """What was done with a mark in it: files, titles, messages that are more than a question or a quote."""
        root = self.house.home.home.parent
        files = [one for one in root.rglob("*") if one.is_file() and not _BESIDE.search(str(one.relative_to(root)))]
        found = [str(one) for one in files if mark in one.name or mark.encode() in _read(one)]
        for who in VICTIMS:
            found += [
                f"title {one}"
                for one in self.api(who, "GET", "/api/sessions?limit=100")["data"]
                if mark in (one["title"] or "")
            ]
        texts = [said(m) for _, m in self.house.phones.everything()]
        return found + [f"sent: {text}" for text in texts if text == mark or f"called '{mark}'" in text]

    def settle(self) -> None:
        """Wait until nothing happens any more."""
        self.house.phones.heard()
        if self.house.is_idle:
            calm, deadline = 0, time.monotonic() + 20
            while calm < 2:  # what ends may begin something
                assert time.monotonic() < deadline, "it does not come to rest"
                calm = calm + 1 if self.house.is_idle() else 0
                time.sleep(0.005)
            return
        last, since = None, time.monotonic()
        while time.monotonic() - since < _QUIET:
            now = (
                len(self.house.model.bodies),
                sorted((c, m["message_id"], said(m)) for c, m in self.house.phones.everything()),
            )
            if now != last or any(text == "…" for _, _, text in now[1]):
                last, since = now, time.monotonic()
            time.sleep(0.02)

    # --- judging ----------------------------------------------------------------------------------------------------

    def state(self, who: str) -> dict[str, Any]:
        """Everything of somebody that another must not change."""
        listed = self.api(who, "GET", "/api/sessions?limit=100")["data"]
        found: dict[str, Any] = {"sessions": [(one["id"], one.get("title")) for one in listed]}
        for one in listed:
            found[f"messages of {one['id']}"] = self.api(who, "GET", f"/api/sessions/{one['id']}/messages")["data"]
        root = self.folder(who) if who == "oli" else self.folder(who).parent
        files = [one for one in root.rglob("*") if one.is_file()]
        remembered = [one for one in (self.house.home.home / "memories").rglob("*") if one.is_file()]
        files += [one for one in remembered if secret(who).encode() in one.read_bytes()]
        found["files"] = sorted((str(one), hashlib.sha256(one.read_bytes()).hexdigest()) for one in files)
        found["direct"] = [said(m) for m in self.house.phones.shown(who, "dm")]
        found["questions"] = {place: self._open(who, place) for one, place in QUESTIONS if one == who}
        found["requests"] = len(self.house.model.of(who))
        if who == "oli":
            home = self.house.home.home
            found["settings"] = [(home / name).read_text() for name in ("config.yaml",) if (home / name).exists()]
        return found

    def leaks(self, answers: list[str]) -> list[str]:
        """Where something private came to be seen that should not, since this was asked last."""
        bodies, self.judged = self.house.model.bodies[self.judged :], len(self.house.model.bodies)
        shown, private = self.house.phones.everything(), {number_of(who): who for who in VICTIMS}
        texts = [(f"a request of {last_said(json.loads(body))}", body.decode()) for body in bodies]
        texts += [(f"chat {private.get(chat, chat)}, message {m['message_id']}", said(m)) for chat, m in shown]
        texts += [("the API", text) for text in answers]
        texts += [
            (f"file {at}", sent.decode(errors="replace")) for at, sent in enumerate(self.house.phones.files_sent())
        ]
        found = []
        for who in VICTIMS:
            theirs = (f"a request of {who}-", f"chat {who},")
            held = [one for one in texts if secret(who) in one[1] and not one[0].startswith(theirs)]
            found += [f"{place} holds what is {who}'s: …{_near(text, secret(who))}…" for place, text in held]
        new = [one for one in found if one not in self.known_leaks]
        self.known_leaks.update(new)
        return new


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # it was there for a moment
        return b""


def _near(text: str, word: str) -> str:
    at = text.index(word)
    return text[max(0, at - 150) : at + 150]
