"""Models for tests of mem0: vectors of the letters of a text, two and two, and facts that are scripted."""

import json
import zlib

from hermes_core.brokers import LlmBroker
from hermes_core.errors import UserError
from hermes_core.types import MediaResponse, Message, Response, Text, Usage

SIZE = 256


def vector(text, size=SIZE):
    made, plain = [0.0] * size, f" {text.casefold()} "
    for at in range(len(plain) - 1):
        made[zlib.crc32(plain[at : at + 2].encode()) % size] += 1.0
    for word in plain.split():
        made[zlib.crc32(word.strip(".,?!").encode()) % size] += 2.0
    return made


class StandIn(LlmBroker):
    """``facts`` is what is taken out of the next turn; ``asked`` and ``told`` are what it was asked."""

    def __init__(self):
        self.asked, self.told, self.facts = [], [], []
        self.model, self.size, self.broken = "letters", SIZE, False

    async def media(self, verb, request, task="", session=None):
        if self.broken:
            raise UserError("Nobody thinks.")
        self.asked += request.texts
        vectors = [vector(text, self.size) for text in request.texts]
        return MediaResponse(model=self.model, vectors=vectors, usage=Usage(calls=1))

    async def complete(self, request, task="", session=None):
        if self.broken:
            raise UserError("Nobody thinks.")
        self.told.append("\n".join(p.text for m in request.messages for p in m.parts if isinstance(p, Text)))
        text = json.dumps({"memory": [{"id": str(n), "text": fact} for n, fact in enumerate(self.facts)]})
        return Response(message=Message(role="assistant", parts=(Text(text=text),)), reason="stop", usage=Usage())
