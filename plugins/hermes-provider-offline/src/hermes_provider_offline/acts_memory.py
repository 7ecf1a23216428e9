"""Steps about what was said before: remember, forget, answer from memory, look into past conversations;"
" small talk."""

import re
from collections.abc import Generator

from hermes_core.values import frozen
from hermes_provider_offline.history import Outcome
from hermes_provider_offline.outputs import is_empty, unwrap
from hermes_provider_offline.plan_state import Act, PlanState, sorry
from hermes_provider_offline.speech import CONNECT, WHAT, fenced, introduction, quoted, short
from hermes_provider_offline.step import Step
from hermes_provider_offline.toolbox import ROLES, Call, CannotDo
from hermes_provider_offline.words import content_words, likeness, singular

_ABOUT_PERSON = re.compile(
    r"(?:i|i'm|i'd|i've|my|me|mine|we|our|ich|mein\w*|wir|unser\w*|mi|mis|yo|mon|ma|mes|je|j'\w+|nous"
    r"|notre)\b|내|나는|나의|저는|제 |우리|私|僕|俺|我",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"^\W{0,6}(?P<file>MEMORY|USER|Memory|Memories|What (?:I|you) (?:know|remember))\b.*$", re.MULTILINE
)
_ENOUGH = 0.5  # share of the words a fact must hold to count as an answer


@frozen(kw_only=True)
class Fact:
    """Something known, and from where: a memory file's target, or ``said`` in this conversation."""

    text: str
    where: str


def facts(state: PlanState) -> list[Fact]:
    """What the prompt's memory says, what was remembered since, and what the person said here; best kept first."""
    found = [*_in_prompt(state.history.prompt)]
    for name, arguments, outcome in state.history.earlier:
        text = next((arguments[r] for r in ROLES["fact"] if isinstance(arguments.get(r), str)), "")
        if name in ("memory", "remember", "save_memory") and text and not outcome.failed:
            found.append(Fact(text=str(text), where=str(arguments.get("target") or "memory")))
        gone = arguments.get("old")
        if name == "memory" and arguments.get("action") == "remove" and isinstance(gone, str) and not outcome.failed:
            found = [fact for fact in found if gone not in fact.text]
    found.extend(Fact(text=said, where="said") for said in state.history.said if len(said) < 400 and not _asks(said))
    return found


def _asks(said: str) -> bool:
    return said.rstrip().endswith(("?", "？")) or bool(
        re.match(
            r"\s*(?:what|who|where|when|which|how|why|do|did|can|list|read|search|find|run|show|forget|remember)\b",
            said,
            re.IGNORECASE,
        )
    )


def _in_prompt(prompt: str) -> list[Fact]:
    headers = list(_HEADER.finditer(prompt))
    found: list[Fact] = []
    for number, header in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(prompt)
        body = prompt[header.end() : end]
        entries = re.split(r"\n§\n", body) if "\n§\n" in body else re.split(r"\n(?:[-*] )?|\n§\n", body)
        where = "user" if header["file"] == "USER" else "memory"
        found.extend(
            Fact(text=text, where=where) for entry in entries if (text := entry.strip()) and not text.startswith("[")
        )
    return found


def best_fact(state: PlanState, question: str) -> Fact | None:
    """The fact that holds most of a question's words, the latest of equals."""
    scored = [(likeness(question, f.text), f.where != "said", number, f) for number, f in enumerate(facts(state))]
    if not scored:
        return None
    score, _, _, fact = max(scored, key=lambda row: row[:3])
    return fact if score >= _ENOUGH else None


def act_remember(step: Step, state: PlanState) -> Act:
    """Keep a fact."""
    target = "user" if _ABOUT_PERSON.match(step.text) else "memory"
    outcome = yield state.toolbox.call("remember", action="add", fact=step.text, target=target)
    if outcome.failed:
        raise sorry(f"I could not remember “{short(step.text, 120)}”.", outcome)
    note = f"\n{quoted(outcome.text, 300)}" if outcome.text.strip() else ""
    return f"I will remember: “{short(step.text, 200)}”.{note}"


def act_forget(step: Step, state: PlanState) -> Act:
    """Remove a fact."""
    known = best_fact(state, step.text)
    where = known.where if known and known.where in ("user", "memory") else ""
    old = known.text if known and where else step.text
    outcome = Outcome(text="", failed=True)
    for target in (where,) if where else ("user", "memory"):
        outcome = yield state.toolbox.call("forget", action="remove", old=old, target=target)
        if not outcome.failed:
            return f"I forgot: “{short(old, 200)}”."
    raise sorry(f"I could not forget “{short(old, 120)}”.", outcome)


def act_question(step: Step, state: PlanState) -> Act:
    """Answer from memory, else from past conversations, always with the source."""
    if known := best_fact(state, step.text):
        sources = {"said": "You told me in this conversation", "user": "You told me, and I kept it in memory"}
        return f"{sources.get(known.where, 'My notes say')}: “{short(known.text, 300)}”."
    words = content_words(step.text)
    if not words or not state.toolbox.can("recall"):
        return "I know nothing about that: it is not in my memory, and you have not told me in this conversation."
    said = yield from _recalled(state, " ".join(words[:5]))
    if not said:
        return (
            f"I know nothing about that: I looked for “{' '.join(words[:5])}” in my memory and in past conversations."
        )
    return f"It is not in my memory, but past conversations hold this:\n{fenced(said)}"


def act_known(step: Step, state: PlanState) -> Act:
    """Everything that is in memory."""
    known = [fact for fact in facts(state) if fact.where != "said"]
    if not known:
        return "My memory is empty. Write “remember that …” to put something there."
    return "My memory holds:\n" + "\n".join(f"- {short(text, 300)}" for text in dict.fromkeys(f.text for f in known))
    yield


def act_statement(step: Step, state: PlanState) -> Act:
    """Something the person says of themselves without asking to keep it."""
    return f"I have it here. To keep it for later conversations too, write: remember that {short(step.text, 160)}"
    yield


def act_sessions(step: Step, state: PlanState) -> Act:
    """Search past conversations, or list the recent ones."""
    words = content_words(step.text)
    dated = re.search(r"\b(?:last|this|past|yesterday|ago|week|month|year|today)\b", state.history.task, re.IGNORECASE)
    note = "\n(I do not filter by date; the dates are in the list.)" if dated else ""
    if not words:
        outcome = yield state.toolbox.call("recent")
        if outcome.failed:
            raise sorry("I could not list past conversations.", outcome)
        return f"Past conversations:\n{fenced(_limited(outcome.text))}{note}"
    query = " ".join(words[:6])
    said = yield from _recalled(state, query)
    if not said:
        return f"I found nothing about “{query}” in past conversations."
    state.result = said
    return f"Past conversations about “{query}”:\n{fenced(said)}{note}"


def _recalled(state: PlanState, query: str) -> Generator[Call, Outcome, str]:
    """What was said about something; plurals are tried without their ending too. Empty when nothing was."""
    for words in dict.fromkeys((query, " ".join(singular(word) for word in query.split()))):
        outcome = yield state.toolbox.call("recall", query=words)
        if outcome.failed:
            raise sorry(f"I could not search past conversations for “{words}”.", outcome)
        if not is_empty(outcome.text):
            return _limited(outcome.text)
    return ""


def _limited(text: str) -> str:
    text = unwrap(text).strip()
    return text if len(text) <= 5000 else f"{text[:5000]}\n…"


def act_talk(step: Step, state: PlanState) -> Act:
    """Small talk."""
    if step.kind == "help":
        return introduction(state.toolbox)
    if step.kind == "time":
        return f"It is {state.clock().strftime('%A, %d %B %Y, %H:%M')} by the clock of this machine."
    said = {
        "greet": f"Hello! {WHAT} Ask me “what can you do?” to see what I understand.\n\n{CONNECT}",
        "identity": (
            f"{WHAT} I come with Hermes so that it does something useful before a model is connected.\n\n{CONNECT}"
        ),
        "connect": CONNECT,
        "thanks": "You are welcome.",
        "bye": "Goodbye. What we said is kept; `hermes --continue` goes on from here.",
    }
    return said[step.kind]
    yield


def act_unknown(step: Step, state: PlanState) -> Act:
    """A request among others that no rule knows."""
    raise CannotDo(step.text)
    yield
