"""Echoes the last user message; for demos and tests."""

from hermes_core import Provider, hookimpl
from hermes_core.types import Done, Model, Text, TextDelta, Usage, UsageDelta


class Echo(Provider):
    name = "echo"

    async def models(self):
        return [Model(name="echo-1", context=4096, features=frozenset())]

    async def stream(self, request):
        words = [part.text for part in request.messages[-1].parts if isinstance(part, Text)]
        yield TextDelta(text="\n".join(words))
        yield UsageDelta(usage=Usage(input=len(words), output=len(words), calls=1))
        yield Done(reason="stop")


@hookimpl
def register_providers():
    return [Echo()]
