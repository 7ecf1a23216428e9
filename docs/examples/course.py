"""Two words in the course of a turn: which tools a model is told of, and whether its turn may end."""

# /// hermes
# api = 1
# name = "course"
# kind = "tool"
# summary = "Hides the web, and wants files to be read again once they were written."
#
# [hooks]
# use = ["offer_tools", "post_tool_call", "may_end"]
# ///

from attrs import evolve

from hermes_core import hookimpl
from hermes_core.types import Verdict


@hookimpl
async def offer_tools(offer):
    web = [spec.name for spec in offer.tools if offer.toolsets.get(spec.name) == "web" and spec not in offer.sent]
    told = [spec for spec in offer.tools if spec.name not in web]
    return evolve(offer, tools=told, why=dict.fromkeys(web, "this machine stays off the network"))


@hookimpl
async def post_tool_call(ctx, session, call, outcome):
    if call.name in ("write_file", "read_file") and outcome == "ok":
        ctx.state[session.turn] = call.name


@hookimpl
async def may_end(ctx, session, answer):
    if ctx.state.pop(session.turn, "") == "write_file":
        return Verdict(outcome="deny", reason="read the file that you wrote, and say whether it is right")
    return None
