"""Tools that are files: each JSON file in the plugin's folder is one, for as long as it lies there."""

import json

from hermes_core import hookimpl
from hermes_core.kinds import Tool, ToolSource


def read(path):
    file = json.loads(path.read_text())

    async def run(context, given):
        return file["answer"].format(**given)

    name, words = f"canned_{path.stem}", file["description"]
    return Tool(name=name, toolset="canned", description=words, schema=file["schema"], run=run)


@hookimpl
def register_tool_sources(ctx):
    def tools(session):
        return [read(path) for path in ctx.paths.data.glob("*.json")]

    return [ToolSource(name="canned", toolset="canned", tools=tools)]
