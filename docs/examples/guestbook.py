"""A guest book over HTTP: anybody signs it, and whoever has a key of your Hermes reads it."""

# /// hermes
# api = 1
# name = "guestbook"
# kind = "tool"
# summary = "A guest book over HTTP."
#
# [contributes]
# routes = ["sign", "read"]
#
# [permissions]
# public = ["sign"]
# ///

from hermes_core import hookimpl
from hermes_core.types import Routes


async def answer(send, status, text):
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def read_body(receive):
    body, more = b"", True
    while more and len(body) < 1000:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body[:1000].decode(errors="replace").strip()


@hookimpl
def register_routes(ctx):
    async def sign(scope, receive, send):
        if scope["method"] != "POST":
            return await answer(send, 405, "POST your name.")
        if not (name := await read_body(receive)):
            return await answer(send, 400, "Say your name.")
        await ctx.documents.change("names", lambda names: [*(names or ())[-99:], name])
        return await answer(send, 201, f"Thank you, {name}.")

    async def read(scope, receive, send):
        names = await ctx.documents.get("names")
        signed = "\n".join(names.value if names else ())
        await answer(send, 200, f"For {scope['hermes.owner'].person}:\n{signed}\n")

    return [Routes(name="sign", app=sign), Routes(name="read", app=read)]
