"""An agent of the SDK's own making, on a real port: its words say what it does."""

import asyncio
import contextlib
import socket

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part
from attrs import define, field
from starlette.applications import Starlette

KEY = "travel-key-0123456789"


class Travel(AgentExecutor):
    """Answers at once, or after ``go``; asks; fails; gives a file."""

    def __init__(self):
        self.heard, self.go = [], asyncio.Event()

    async def execute(self, context, event_queue):
        words = context.get_user_input()
        self.heard.append((context.message.message_id, words))
        if words.startswith("plain"):
            await event_queue.enqueue_event(new_text_message("No task at all."))
            return
        task = context.current_task or new_task_from_user_message(context.message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if words.startswith("slow"):
            await self.go.wait()
        if words.startswith("ask"):
            await updater.requires_input(updater.new_agent_message([Part(text="Which day?")]))
            return
        if words.startswith("fail"):
            await updater.failed(updater.new_agent_message([Part(text="The \x1b[31mtrain is gone.")]))
            return
        parts = [Part(text=f"Heard: {words}")]
        if words.startswith("file"):
            parts.append(Part(raw=b"a,b", filename="../../times.csv", media_type="text/csv"))
        await updater.add_artifact(parts)
        await updater.complete()

    async def cancel(self, context, event_queue):
        self.heard.append(("", "canceled"))
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


@define
class Remote:
    """Where it is, and what it heard."""

    url: str
    agent: Travel
    card: AgentCard
    loop: asyncio.AbstractEventLoop
    keys: list = field(factory=list)


@contextlib.asynccontextmanager
async def remote(binding="JSONRPC"):
    """Serve it."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        card = AgentCard(
            name="Travel",
            description="Knows trains.",
            version="1",
            supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")],
            capabilities=AgentCapabilities(),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[AgentSkill(id="t", name="Trains", description="When they go.", tags=["t"])],
        )
        there = Remote(url, Travel(), card, asyncio.get_running_loop())
        handler = DefaultRequestHandler(agent_executor=there.agent, task_store=InMemoryTaskStore(), agent_card=card)
        routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/"), *create_rest_routes(handler)]
        app = Starlette(routes=routes)

        async def keyed(scope, receive, send):
            if scope["type"] == "http":
                there.keys.append(dict(scope["headers"]).get(b"authorization", b"").decode())
            await app(scope, receive, send)

        server = uvicorn.Server(uvicorn.Config(keyed, log_level="critical", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield there
        finally:
            there.agent.go.set()
            server.should_exit = server.force_exit = True
            await serving
