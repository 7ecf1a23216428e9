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
from people_telegram import PLACES, said

__all__ = ["OTHERS", "QUESTIONS", "VICTIMS", "World", "canary"]

VICTIMS = ("ann", "oli")
OTHERS = ("ben", "cat", "eve")
QUESTIONS = (("ann", "dm"), ("ann", "group"), ("ann", "thread"), ("oli", "dm"), ("oli", "group"))  # a thread has one
_QUIET = 0.12  # seconds without anything new, after which what was tried is over


def canary(who: str) -> str:
    """What stands in everything private of somebody."""
    return f"KANARIE{who.upper()}"


class World:
    """Who has what. ``sessions``, ``responses`` and ``runs`` are by person; ``asked`` by person and place."""

    def __init__(self, house: House) -> None:
        self.house, self.number = house, 0
        self.sessions: dict[str, str] = {}
        self.responses: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.asked: dict[tuple[str, str], dict[str, Any]] = {}
        for who in VICTIMS:
            self._furnish(who)
        self.arm()

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
        self.say(who, "dm", f"/title {mine} title")
        until(lambda: any("is now called" in said(m) for m in self.house.phones.shown(who, "dm")), "no title")
        made = self.api(who, "POST", "/api/sessions", {"title": f"{mine} api"})
        self.sessions[who] = made["id"]
        self.api(who, "POST", f"/api/sessions/{made['id']}/chat", {"input": f"{self.tag(who)} {mine} over the API"})
        body = {"model": "hermes", "input": f"{self.tag(who)} {mine} response"}
        self.responses[who] = self.api(who, "POST", "/v1/responses", body)["id"]
        self.runs[who] = self.api(who, "POST", "/v1/runs", {"input": f"{self.tag(who)} {mine} run"})["run_id"]
        path = f"/v1/runs/{self.runs[who]}"
        until(lambda: self.api(who, "GET", path)["status"] == "completed", "the run does not end")

    def arm(self) -> None:
        """Let the victims have open questions everywhere; those that are gone are asked again."""
        for who, place in QUESTIONS:
            if not self._open(who, place):
                question = {"question": f"{canary(who) if place == 'dm' else who} wants tea?", "choices": ["yes", "no"]}
                self._ask(who, place, f"ORDER clarify {json.dumps(question)}", "wants tea?")

    def _open(self, who: str, place: str) -> bool:
        """Whether the last question there still waits: its turn has not ended."""
        one = self.asked.get((who, place))
        return bool(one) and not any(f"done {one['tag']}." in said(m) for m in self.house.phones.shown(who, place))

    def _ask(self, who: str, place: str, order: str, words: str) -> None:
        tag = self.tag(who)
        before = {m["message_id"] for m in self.house.phones.shown(who, place)}
        self.say(who, place, f"{tag} go\n{order}")

        def there() -> list[dict[str, Any]]:
            found = [m for at in PLACES for m in self.house.phones.shown(who, at)]
            return [m for m in found if words in said(m) and m["message_id"] not in before]

        asked = until(there, f"{who} is not asked in {place}: {self.seen(who)[-3:]}")[-1]
        self.asked[who, place] = {**asked, "tag": tag.rstrip(".")}

    def session_of(self, who: str) -> str:
        """The session of somebody's direct chat."""
        listed = self.api(who, "GET", "/api/sessions")["data"]
        return str(next(one["id"] for one in listed if canary(who) in (one.get("title") or "") and "title" in one["title"]))

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

    def settle(self) -> None:
        """Wait until nothing happens any more."""
        self.house.phones.heard()
        last, since = None, time.monotonic()
        while time.monotonic() - since < _QUIET:
            now = len(self.house.model.bodies), sorted((c, m["message_id"], said(m)) for c, m in self.house.phones.everything())
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
        places = [root, *([self.house.home.home / "memories"] if who == "oli" else [])]
        files = [one for place in places for one in place.rglob("*") if one.is_file()]
        found["files"] = sorted((str(one), hashlib.sha256(one.read_bytes()).hexdigest()) for one in files)
        found["direct"] = [said(m) for m in self.house.phones.shown(who, "dm")]
        found["questions"] = {place: self._open(who, place) for one, place in QUESTIONS if one == who}
        found["requests"] = len(self.house.model.of(who))
        if who == "oli":
            home = self.house.home.home
            found["settings"] = [(home / name).read_text() for name in ("config.yaml",) if (home / name).exists()]
        return found

    def leaks(self, mark: int, answers: list[str]) -> list[str]:
        """Where something private came to be seen that should not: requests since ``mark``, chats, answers of the API."""
        found = []
        for who in VICTIMS:
            mine = canary(who)
            others = [body for body in self.house.model.bodies[mark:] if mine.encode() in body]
            found += [f"a request holds {mine}: …{_near(body.decode(), mine)}…" for body in others]
            own = {m["message_id"] for m in self.house.phones.shown(who, "dm")}
            for chat, one in self.house.phones.everything():
                if mine in said(one) and one["message_id"] not in own:
                    found.append(f"{mine} was shown in {chat}: {said(one)[:300]}")
            found += [f"the API said {_near(text, mine)}" for text in answers if mine in text]
            found += [f"a file with {mine} was sent" for sent in self.house.phones.files_sent() if mine.encode() in sent]
        return found


def _near(text: str, word: str) -> str:
    at = text.index(word)
    return text[max(0, at - 150) : at + 150]
