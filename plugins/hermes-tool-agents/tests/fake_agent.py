"""An agent for tests: does what its task says, over the real wire."""

import asyncio
import os
import sys
from pathlib import Path

from hermes_acp_wire.peer import NOT_FOUND, Peer, RpcError
from hermes_acp_wire.pipes import take_pipes


class Agent:
    peer: Peer

    async def answer(self, method, params):
        if method == "initialize":
            if "mute" in sys.argv:
                await asyncio.sleep(3600)
            can = {} if "forgetful" in sys.argv else {"sessionCapabilities": {"resume": {}}}
            return {"protocolVersion": 1, "agentCapabilities": can}
        if method == "session/new":
            return {"sessionId": f"s{os.getpid()}"}
        if method == "session/resume":
            if not params["sessionId"].startswith("s"):
                raise RpcError(NOT_FOUND, "gone")
            await self.say(params["sessionId"], "what was said before")
            return {}
        if method == "session/prompt":
            return await self.prompt(params["sessionId"], params["prompt"][0]["text"])
        return None

    async def say(self, session, text):
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        await self.peer.notify("session/update", {"sessionId": session, "update": update})

    async def prompt(self, session, task):
        if task == "die":
            os._exit(3)
        if task == "wait":
            call = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "waiting for Godot"}
            await self.peer.notify("session/update", {"sessionId": session, "update": call})
            await asyncio.sleep(3600)
        if task == "fail":
            raise RpcError(-32000, "log in first")
        if task in ("ask", "ask for good"):
            kinds = ("allow_always", *(["allow_once"] if task == "ask" else []), "reject_once")
            options = [{"optionId": k, "name": k, "kind": k} for k in kinds]
            words = {"type": "content", "content": {"type": "text", "text": "Tidies up."}}
            call = {"toolCallId": "1", "title": "Tidy", "content": [words], "rawInput": {"command": "rm everything"}}
            told = await self.peer.request(
                "session/request_permission", {"sessionId": session, "toolCall": call, "options": options}
            )
            task = str(told["outcome"])
        await self.say(session, f"{session} {Path.cwd()} {os.environ.get('COLOUR', '')}: ")
        await self.say(session, task)
        return {"stopReason": "max_tokens" if task == "cut" else "end_turn"}


async def main():
    agent = Agent()
    agent.peer = Peer(*await take_pipes(), agent.answer)
    print("noise on stdout", flush=True)
    await agent.peer.serve()


asyncio.run(main())
