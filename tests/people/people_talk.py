"""A person who does what the script says, waits for what comes of it, and what they saw of it all."""

import json
import random
import re
import time
from typing import Any

from people_house import House, until
from people_script import Step
from people_telegram import PLACES, buttons, said

__all__ = ["Talk"]

_GOES_ON = re.compile(r'"status": ?"(?:queued|running)"')
_QUESTION = re.compile(r"/approve (\w+) ")


class Talk:
    """One person's side. ``saw`` is what they were shown, step by step, as it finally stands."""

    def __init__(
        self, house: House, who: str, dice: random.Random, *, patient: bool = True, pause: float = 0.1
    ) -> None:
        self.house, self.who, self.dice, self.patient, self.pause = house, who, dice, patient, pause
        self.api: list[tuple[str, str]] = []  # the step, and what the API answered
        self.session, self.answered = "", set[str]()
        self.last: dict[str, Any] | None = None  # a question with buttons

    def play(self, steps: list[Step]) -> None:
        """Do everything, one after another."""
        for step in steps:
            getattr(self, f"_{step.kind}")(step)
            self._settle()

    def shown(self) -> list[dict[str, Any]]:
        """Everything that the bot showed this person on Telegram."""
        found = [one for place in PLACES for one in self.house.phones.shown(self.who, place)]
        return sorted(found, key=lambda one: int(one["message_id"]))

    # --- steps ------------------------------------------------------------------------------------------------------

    def _say(self, step: Step, **more: Any) -> None:
        before = len(self.shown())
        self.house.phones.say(self.who, step.place, step.text, **more)
        if step.answer == "any":  # of who may be refused it
            self._wait(lambda: self._more(before), step)
        else:
            self._done(step)

    _order = _say

    def _file(self, step: Step) -> None:
        document = self.house.phones.file(f"{step.tag}. canary in a file\n".encode(), f"{step.tag}.txt")
        self._say(step, document=document)

    def _quote(self, step: Step) -> None:
        mine = self.house.phones.message(self.who, step.place, text=f"{step.tag}. what I said before")
        self._say(step, reply_to_message=mine)

    def _forward(self, step: Step) -> None:
        origin = {"type": "hidden_user", "sender_user_name": "Somebody", "date": 1_760_000_000}
        self._say(step, forward_origin=origin)

    def _command(self, step: Step) -> None:
        before = len(self.shown())
        mine = self.house.phones.say(self.who, step.place, step.text)
        if step.answer:
            self._done(step)
        else:
            self._wait(lambda: self._more(before), step)
            self._wait_for_its_own(step, mine["message_id"])
            if step.text == "/retry" and any("Answer with a number" in said(one) for one in self.shown()[before:]):
                before = len(self.shown())  # what was asked before is asked again
                self.house.phones.say(self.who, step.place, "1")
                self._wait(lambda: self._more(before), step)

    def _wait_for_its_own(self, step: Step, message_id: int) -> None:
        """Wait for the answer to a message of a group: something new may have come of what was said before."""
        deadline = time.monotonic() + 2  # not everything is answered with a reply
        while self.patient and step.place != "dm" and time.monotonic() < deadline:
            if any((one.get("reply_parameters") or {}).get("message_id") == message_id for one in self.shown()):
                return
            time.sleep(0.005)

    def _ask(self, step: Step) -> None:
        self.house.phones.say(self.who, step.place, step.text)

        def asked_by() -> list[dict[str, Any]]:
            return [one for one in self.shown() if f"{step.tag}. Tea?" in said(one)]

        if self._wait(asked_by, step):
            asked = asked_by()
            self.last = asked[-1] if buttons(asked[-1]) else self.last
            if step.answer == "button" and buttons(asked[-1]):
                self.house.phones.press(self.who, asked[-1], buttons(asked[-1])[0])
            else:
                words = {"number": "1", "words": f"{step.tag}. perhaps"}.get(step.answer, "2")
                self.house.phones.say(self.who, step.place, words)
        self._done(step)

    def _press(self, step: Step) -> None:
        """Press a button of a question that was answered already."""
        if self.last:
            before, deadline = (
                len(self.shown()),
                time.monotonic() + 2,
            )  # what is said of it is said before the next word
            self.house.phones.press(self.who, self.last, buttons(self.last)[-1])
            while self.patient and not self._more(before) and time.monotonic() < deadline:
                time.sleep(0.01)
        self._say(step)

    def _api(self, step: Step) -> None:
        status, text = getattr(self, f"_api_{step.answer}")(step)
        self.api.append((f"{step.tag} {step.answer}", f"{status} {text}"))

    def _api_chat(self, step: Step) -> tuple[int, str]:
        body = {"model": "hermes", "messages": [{"role": "user", "content": step.text}]}
        return self._asked("POST", "/v1/chat/completions", body)

    def _api_responses(self, step: Step) -> tuple[int, str]:
        return self._asked("POST", "/v1/responses", {"model": "hermes", "input": step.text})

    def _api_messages(self, step: Step) -> tuple[int, str]:
        body = {"model": "hermes", "max_tokens": 100, "messages": [{"role": "user", "content": step.text}]}
        return self._asked("POST", "/v1/messages", body)

    def _api_session(self, step: Step) -> tuple[int, str]:
        return self._asked("POST", f"/api/sessions/{self._own()}/chat", {"input": step.text})

    def _api_command(self, step: Step) -> tuple[int, str]:
        return self._asked("POST", f"/api/sessions/{self._own()}/commands", {"command": step.text})

    def _api_list(self, step: Step) -> tuple[int, str]:
        return self._asked("GET", "/api/sessions")

    def _api_read(self, step: Step) -> tuple[int, str]:
        return self._asked("GET", f"/api/sessions/{self._own()}/messages")

    def _api_run(self, step: Step) -> tuple[int, str]:
        status, text = self._asked("POST", "/v1/runs", {"input": step.text})
        if status == 202:
            path = f"/v1/runs/{json.loads(text)['run_id']}"
            return self._ended(path, step)
        return status, text

    def _ended(self, path: str, step: Step) -> tuple[int, str]:
        """What a run says of itself once it is over; a person without patience looks once."""
        last = list[tuple[int, str]]()

        def over() -> bool:
            last[:] = [self._asked("GET", path)]
            return not _GOES_ON.search(last[0][1])

        self._wait(over, step)
        return last[0]

    def _api_fork(self, step: Step) -> tuple[int, str]:
        return self._asked("POST", f"/api/sessions/{self._own()}/fork", {})

    def _api_title(self, step: Step) -> tuple[int, str]:
        return self._asked("PATCH", f"/api/sessions/{self._own()}", {"title": f"Title {step.tag}"})

    def _api_delete(self, step: Step) -> tuple[int, str]:
        session, self.session = self._own(), ""
        return self._asked("DELETE", f"/api/sessions/{session}")

    def _own(self) -> str:
        if not self.session:
            self.session = json.loads(self._asked("POST", "/api/sessions", {})[1])["id"]
        return self.session

    def _asked(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        return self.house.ask(self.who, method, path, body)

    # --- waiting ----------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Wait until what was said to this person counts as sent: else the next thing they do may come before that.

        A question that nobody answers is no reason to wait for ever.
        """
        deadline = time.monotonic() + 5
        while self.patient and time.monotonic() < deadline and self.house.unsent(self.who):
            time.sleep(0.002)

    def _more(self, before: int) -> bool:
        """Whether there is something new, and all of it is whole."""
        shown = self.shown()
        return len(shown) > before and not any(said(one) == "…" for one in shown)

    def _done(self, step: Step) -> None:
        def there() -> bool:
            self._consent(step)
            return any(f"done {step.tag}." in said(one) for one in self.shown())

        self._wait(there, step)

    def _consent(self, step: Step) -> None:
        """Answer the questions for a yes that are open."""
        for one in self.shown():
            found = _QUESTION.search(said(one))
            if found and "May I do this?" in said(one) and found[1] not in self.answered:
                self.answered.add(found[1])
                words = random.Random(step.tag).choice(("approve", "deny"))
                self.house.phones.say(self.who, "dm", f"/{words} {found[1]}")

    def _wait(self, true: Any, step: Step) -> bool:
        if not self.patient:
            time.sleep(self.dice.random() * self.pause)
            return bool(true())
        until(true, (step, [said(one) for one in self.shown()][-3:]))
        return True
