"""A client made with the official Python library: says what it is told, one JSON value a line."""

import asyncio
import json
import os
import sys

import acp
from acp.schema import AllowedOutcome, ClientCapabilities, RequestPermissionResponse


def say(told):
    print(json.dumps(told), flush=True)


class Client(acp.Client):
    async def request_permission(self, session_id, tool_call, options, **_):
        say({"asked": [one.option_id for one in options]})
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="once"))

    async def session_update(self, session_id, update, **_):
        say(update.model_dump(mode="json", by_alias=True, exclude_none=True))


async def main():
    cwd, *command = sys.argv[1:]
    async with acp.spawn_agent_process(Client(), *command, cwd=cwd, env=dict(os.environ)) as (connection, _):
        told = await connection.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
        say(told.model_dump(mode="json", by_alias=True, exclude_none=True))
        session = await connection.new_session(cwd=cwd, mcp_servers=[])
        said = await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("do it")])
        say({"ended": said.stop_reason})
        again = await connection.load_session(session_id=session.session_id, cwd=cwd, mcp_servers=[])
        say({"loaded": again is not None})


asyncio.run(main())
