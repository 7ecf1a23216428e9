"""Answers in loud conversations are capitals; all others come as they are said, with who answered below."""

# /// hermes
# api = 1
# name = "byline"
# kind = "tool"
# summary = "Says below an answer which model gave it."
#
# [hooks]
# use = ["may_stream", "transform_outgoing"]
# ///

from attrs import evolve

from hermes_core import hookimpl
from hermes_core.types import Text, Verdict


def loud(session):
    return session.title.endswith("!")


@hookimpl
async def may_stream(session):
    """Keep an answer back that will be another one; what is only added to comes as it is said."""
    return Verdict(outcome="deny", reason="it is made loud") if loud(session) else None


@hookimpl
async def transform_outgoing(session, message):
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    others = tuple(part for part in message.parts if not isinstance(part, Text))
    text = text.upper() if loud(session) else f"{text}\n\n({session.model or 'a model'} said so.)"
    return evolve(message, parts=(Text(text=text), *others))
