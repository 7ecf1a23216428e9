"""Which tools a model is told of: those of the web are hidden, and say why."""

# /// hermes
# api = 1
# name = "course"
# kind = "tool"
# summary = "Keeps the web out of sight."
#
# [hooks]
# use = ["offer_tools"]
# ///

from attrs import evolve

from hermes_core import hookimpl


@hookimpl
async def offer_tools(offer):
    web = [spec.name for spec in offer.tools if offer.toolsets.get(spec.name) == "web" and spec not in offer.sent]
    told = [spec for spec in offer.tools if spec.name not in web]
    return evolve(offer, tools=told, why=dict.fromkeys(web, "this machine stays off the network"))
