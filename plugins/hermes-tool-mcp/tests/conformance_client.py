"""The client under test of the public suite: our connection, our login, with a browser that agrees to everything.

The suite runs it with the address of its server as the last argument, and judges what came over the wire.
"""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import httpx2

from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, plugin_context
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.types import Verdict
from hermes_tool_mcp.asking import callbacks
from hermes_tool_mcp.config import Config, ServerSettings
from hermes_tool_mcp.connection import Connection
from hermes_tool_mcp.login import Callback, Tokens, new_login, read_answer
from hermes_tool_mcp.reach import opening
from hermes_tool_mcp.skills import read_skill

CALLS = {
    "tools_call": [("add_numbers", {"a": 5, "b": 3})],
    "elicitation-sep1034-client-defaults": [("test_client_elicitation_defaults", {})],
    "sse-retry": [("test_reconnection", {})],
}


class Agrees(FakeToolContext):
    """Somebody who sends each form as it is."""

    async def ask(self, question):
        yes = question.choices[:1] == ("yes",) and "empty" not in question.subject
        return Verdict(outcome="allow", choice="yes" if yes else "", by="test")


async def main(url):
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    told = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    client_id = told.get("client_id", "")
    if scenario == "auth/basic-cimd":
        client_id = "https://conformance-test.local/client-metadata.json"
    server = ServerSettings(
        url=url,
        client_id=client_id,
        client_secret=told.get("client_secret", ""),
        login="client" if "client-credentials" in scenario else "person",
        timeout=20.0,
        connect_timeout=20.0,
    )
    manifest = read_manifest(Path(sys.modules["hermes_tool_mcp"].__file__).with_name("hermes-plugin.toml"))
    with tempfile.TemporaryDirectory() as home:
        ctx = plugin_context(manifest, Path(home), config=Config(servers={"suite": server}))
        async with Callback() as callback:

            async def show(where):
                async with httpx2.AsyncClient(follow_redirects=True) as browser:
                    await browser.get(where)

            async def answer():
                text = await callback.answer()
                callback.again()
                return read_answer(text)

            auth = new_login(ctx, "suite", server, Tokens(ctx.paths.data, "suite", url), callback.address, show, answer)
            learned, wants = [], scenario.startswith("auth/") and server.login == "person"
            connection = Connection(
                "suite",
                server,
                opening(ctx, "suite", server, "", auth if wants else None),
                learned.append,
                ctx.log,
                lambda one: callbacks(ctx, one, ""),
            )
            try:
                await connection.client()
                context = Agrees(FakeWorkspace())
                listed = learned[-1].tools
                wanted = CALLS.get(scenario) or [(one.name, example(one.schema)) for one in listed]
                if scenario == "json-schema-2020-12-preservation":  # the schema of one is said to the other
                    echo = next(one for one in listed if "schema" in (one.schema.get("properties") or {}))
                    wanted = [(echo.name, {"schema": one.schema}) for one in listed if one is not echo]
                if "toolCalls" in told:
                    wanted = [(one["name"], one["arguments"]) for one in told["toolCalls"]]
                for skill in learned[-1].skills if "verify" in scenario else ():
                    with suppress(ToolError):  # a model that has read the one asks for the next
                        for path in ("", *skill.files):
                            print(await read(connection, skill.name, path))
                print([one.name for one in listed], file=sys.stderr)
                for tool, arguments in wanted:
                    try:
                        print(await connection.call(tool, arguments, context))
                    except Exception as error:
                        print(tool, error, file=sys.stderr)
            finally:
                await connection.close()


async def read(connection, name, path):
    skills = connection.listed.skills
    return await connection.use(lambda client: read_skill(client, skills, name, path))


def example(schema):
    """Arguments that a schema takes."""
    made = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties") or {}
    return {name: made.get(properties[name].get("type"), "x") for name in schema.get("required") or properties}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
