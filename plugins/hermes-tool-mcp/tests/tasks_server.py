"""A server by the SDK whose calls become tasks, and which has skills: ``tasks_server.py [FILE [forgets]]``.

It speaks 2026-07-28. What is asked of its tasks is written to FILE. One that ``forgets`` cannot list its skills.
"""

import asyncio
import hashlib
import sys
from pathlib import Path

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

MAIN = "---\nname: tea\ndescription: Make tea.\n---\n\nBoil water.\n"
FILES = {"skill://tea/SKILL.md": MAIN, "skill://tea/herbs.md": "Mint.\n", "skill://tea/forged.md": "Bitter.\n"}
LOG = Path(sys.argv[1]) if len(sys.argv) > 1 else None
LOOKS = {}


class Named(types.RequestParams):
    task_id: str


class Update(Named):
    input_responses: dict[str, object]


def row(name, status, **more):
    times = dict.fromkeys(("createdAt", "lastUpdatedAt"), "2026-07-28T00:00:00Z")
    return {"taskId": name, "status": status, **times, "ttlMs": None, "pollIntervalMs": 20, **more}


def tell(words):
    if LOG:
        with LOG.open("a") as file:
            file.write(f"{words}\n")


async def call_tool(_request, params):
    LOOKS[params.name] = 0
    return {"resultType": "task", **row(params.name, "working")}


async def get(_request, params):
    name = params.task_id
    LOOKS[name] += 1
    if name == "slow":
        tell("asked after")
        return row(name, "working", statusMessage="still at it")
    if LOOKS[name] == 1:
        return row(name, "working", statusMessage="half")
    if name == "asks" and "name" not in LOOKS:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        asked = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": form}}
        return row(name, "input_required", inputRequests={"name": asked})
    if name == "nosy":
        form = {"type": "object", "properties": {}}
        key = f"{LOOKS[name]}"
        asked = {"method": "elicitation/create", "params": {"message": f"{key}?", "requestedSchema": form}}
        return row(name, "input_required", inputRequests={key: asked})
    if name == "breaks":
        return row(name, "failed", error={"code": -32603, "message": "it broke"})
    said = LOOKS.get("name", "done")
    return row(name, "completed", result={"content": [{"type": "text", "text": said}]})


async def update(_request, params):
    if "name" not in params.input_responses:
        return {}
    tell("answered")
    if LOG and "stumbled" not in LOOKS:  # once it is away for a moment
        LOOKS["stumbled"] = ""
        raise MCPError(types.INTERNAL_ERROR, "Not now.")
    LOOKS["name"] = params.input_responses["name"]["content"]["name"]
    return {}


async def cancel(_request, params):
    tell(f"cancelled {params.task_id}")
    return {}


async def skills(_request, _params):
    if "forgets" in sys.argv:
        raise MCPError(types.INTERNAL_ERROR, "I forgot them.")
    files = [
        {"uri": uri, "digest": f"sha256:{hashlib.sha256(held.encode()).hexdigest()}", "size": len(held.encode())}
        for uri, held in FILES.items()
    ]
    files[-1]["digest"] = f"sha256:{'0' * 64}"
    head = {"name": "tea", "description": "Make tea."}
    rows = [{"uri": "skill://tea/SKILL.md", "frontmatter": head, "resources": files}]
    rows.append({"uri": "skill://made/SKILL.md", "frontmatter": {**head, "name": "made"}, "resources": "dynamic"})
    return {"skills": rows, "ttlMs": 0, "cacheScope": "private"}


async def read(_request, params):
    uri = str(params.uri)
    tell(f"read {uri}")
    if uri not in FILES:
        raise MCPError(types.INVALID_PARAMS, "There is no such resource.")
    held = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=FILES[uri])
    return types.ReadResourceResult(contents=[held])


async def list_tools(_request, _params):
    tools = [
        types.Tool(name=name, input_schema={"type": "object"}) for name in ("quick", "asks", "breaks", "slow", "nosy")
    ]
    return types.ListToolsResult(tools=tools)


async def main():
    server = Server("tasks", on_list_tools=list_tools, on_call_tool=call_tool, on_read_resource=read)
    server.extensions |= {"io.modelcontextprotocol/tasks": {}, "io.modelcontextprotocol/skills": {}}
    for method, kind, handler in (
        ("tasks/get", Named, get),
        ("tasks/update", Update, update),
        ("tasks/cancel", Named, cancel),
        ("skills/list", types.PaginatedRequestParams, skills),
    ):
        server.add_request_handler(method, kind, handler)
    async with stdio_server() as (heard, said):
        await server.run(heard, said, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
