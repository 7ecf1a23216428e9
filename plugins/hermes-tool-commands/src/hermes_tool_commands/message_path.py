"""What became of a message, step by step, and in words where it stopped and what to do now."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from hermes_core.types import MessageTrace
from hermes_core.values import frozen

__all__ = ["TraceStep", "steps", "verdict"]

Row = Mapping[str, Any]
_LATE = 60.0  # seconds after which a message that is due has nobody who sends it


@frozen(kw_only=True)
class TraceStep:
    """One step of a message's path: ``at`` in seconds since 1970, how many ``seconds`` it took, how it came out."""

    at: float
    step: str
    what: str
    outcome: str = ""
    seconds: float = 0.0


def steps(path: MessageTrace) -> list[TraceStep]:
    """Everything that happened, in order."""
    found = [_received(row) for row in path.received]
    for turn in path.turns:
        found += _turn(turn)
    for row in path.outgoing:
        found += _sent(row)
    return sorted(found, key=lambda step: step.at)


def _received(row: Row) -> TraceStep:
    address = row["address"]
    sender = address.get("sender_name") or address.get("sender", "")
    kind = address.get("kind", "dm") if row["account"] else ""
    what = " ".join(filter(None, (row["platform"], kind, f"from {sender}" if sender else "")))
    became = {
        "": f"waits ({row['mode'] or 'queue'})",
        "dropped": "given up",
        "command": "carried out",
        "refused": "not taken",
    }
    return TraceStep(at=row["received"], step="received", what=what, outcome=became.get(row["turn_id"], "let in"))


def _turn(turn: Row) -> Iterator[TraceStep]:
    ended = turn["ended"]
    took = ended - turn["started"] if ended else 0.0
    what = f"{turn['id'][:8]} in {turn['session_id']}"
    yield TraceStep(at=turn["started"], step="turn", what=what, outcome=turn["state"], seconds=max(took, 0.0))
    for call in turn["models"]:
        who = f"{call['provider']}:{call['model']}" + (f" ({call['task']})" if call["task"] else "")
        cost = f", {'~' if call['priced'] == 'estimated' else ''}${call['cost']:.4f}" if call["priced"] else ""
        used = f"{call['input']:,} in, {call['output']:,} out{cost}"
        at = max(call["created"] - call["seconds"], turn["started"])  # the first one leaves beside the turn's row
        yield TraceStep(at=at, step="model", what=who, outcome=used, seconds=call["seconds"])
    asked = {question["call_id"]: question for question in turn["questions"] if question["call_id"]}
    for question in turn["questions"]:
        waited = max(0.0, question["answered"] - question["asked"])
        what = f"{question['kind']} {question['id'][:8]}"
        yield TraceStep(at=question["asked"], step="asked", what=what, outcome=_answer(question), seconds=waited)
    for call in turn["tools"]:
        said = f", {_answer(asked[call['call_id']])}" if call["call_id"] in asked else ""
        at = call["started"] or call["created"]
        yield TraceStep(
            at=at, step="tool", what=call["name"], outcome=f"{call['outcome']}{said}", seconds=call["seconds"]
        )
    if turn["answered"] and turn["state"] == "done":
        booked = (call["created"] for call in turn["models"])  # in the commit that stored the answer
        yield TraceStep(at=max(turn["answered"], *booked, 0.0), step="answer", what="stored")


def _answer(question: Row) -> str:
    if question["state"] != "answered":
        return str(question["state"])
    by = f" by {question['answered_by']}" if question["answered_by"] else ""
    yes = f"allowed {question['choice']}".strip() if question["verdict"] == "allow" else "denied"
    return f"{yes}{by}"


def _sent(row: Row) -> Iterator[TraceStep]:
    tries = f", tries: {row['tries']}" if row["tries"] else ""
    error = f": {row['error']}" if row["error"] else ""
    what = f"{row['kind']} to {row['platform']}"  # its number counts what goes to others, too
    yield TraceStep(at=row["created"], step="outbox", what=what, outcome=f"{row['state']}{tries}{error}")
    if row["state"] == "sent":
        seen = "perhaps seen twice" if row["repeated"] else ""
        took = max(0.0, row["sent"] - row["created"])
        yield TraceStep(at=row["sent"], step="receipt", what=row["message_id"] or "(no id)", outcome=seen, seconds=took)


def verdict(path: MessageTrace, program: str) -> tuple[bool, str]:
    """Whether it arrived, and in words where it is or stopped and what to do. ``program`` is the command's name."""
    last = path.received[-1] if path.received else None
    if last is not None and (text := _before_turn(last, program)):
        return False, text
    mine = next((t for t in path.turns if path.received and t["id"] == path.received[0]["turn_id"]), None)
    turn = mine or (path.turns[-1] if path.turns else None)
    if turn and turn["state"] == "open":
        return False, _open(turn, program)
    if unsent := [row for row in path.outgoing if row["state"] != "sent"]:
        return False, _unsent(unsent[0], program)
    if turn and turn["state"] == "failed":
        see = f"See `{program} logs --trace {path.trace}`." if path.trace else f"See `{program} logs`."
        heard = "The person was told so. " if path.outgoing else ""
        return bool(path.outgoing), f"The turn failed: {turn['error'] or 'nobody knows why'}. {heard}{see}"
    if turn and turn["state"] == "interrupted":
        return False, "The turn was stopped before its answer was whole. Ask again, or say `go on`."
    if not path.outgoing:
        return True, "It was answered where it was asked; nothing had to be sent."
    took = path.outgoing[-1]["sent"] - (path.received[0]["received"] if path.received else path.outgoing[0]["created"])
    again = " Part of it may be seen twice." if any(row["repeated"] for row in path.outgoing) else ""
    return True, f"It arrived, {took:.1f} s after the message came in.{again}"


def _before_turn(row: Row, program: str) -> str:
    """Why a message has no turn; empty when it has."""
    if row["turn_id"] == "dropped":
        return "It was given up before it had its turn: what waited in its conversation was cleared. Say it again."
    if row["turn_id"] == "refused":
        return f"It was not taken, and the person was told so: {row['mode']} Mend that, and let them say it again."
    if row["turn_id"]:
        return ""
    if row["alive"]:
        return f"It waits: a turn runs in its conversation, {row['session_id']}. /stop ends that turn."
    return (
        "It waits, and nobody works in its conversation. "
        f"Is the gateway running? `{program} gateway status`; `{program} resume` plays it here."
    )


def _open(turn: Row, program: str) -> str:
    if not turn["alive"]:
        return (
            "The process that played its turn died. The turn goes on when the gateway starts, or here with "
            f"`{program} resume`."
        )
    waits = next((question for question in turn["questions"] if question["state"] == "open"), None)
    if waits:
        return f"The turn waits for a yes to {waits['id'][:8]}: /approve or /deny, or `{program} approvals`."
    runs = next((call["name"] for call in turn["tools"] if call["outcome"] == "started"), "")
    since = time.time() - turn["started"]
    return f"The turn runs since {since:.0f} s{f', now in the tool {runs}' if runs else ''}. /stop ends it."


def _unsent(row: Row, program: str) -> str:
    state, where = row["state"], f"{row['platform']}"
    error = f" ({row['error']})" if row["error"] else ""
    if state == "failed":
        return f"The answer was not delivered and is given up{error}. Mend that, then ask again."
    if state == "abandoned":
        return f"The answer was taken back before it was sent{error}."
    if state == "draft":
        return "The answer is still being written."
    account = row["account_state"] or ""
    if account == "parked":
        why = f": {row['account_error']}" if row["account_error"] else ""
        return f"The answer waits, as {where} is parked until a person mends it{why}. See `{program} gateway status`."
    if state == "sending":
        return f"The answer was handed to {where}, and no receipt came yet: it may have arrived{error}."
    if row["due"] > time.time():
        at = time.strftime("%H:%M:%S", time.localtime(row["due"]))
        return f"The answer waits for its next try at {at}{error}."
    late = "" if time.time() - max(row["due"], row["created"]) < _LATE else " Nobody sends it."
    return f"The answer waits to be sent to {where}{error}.{late} See `{program} gateway status`."
