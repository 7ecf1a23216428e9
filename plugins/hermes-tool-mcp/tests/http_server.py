"""A server at an address, by the SDK: ``http_server.py PORT http|sse``."""

import sys

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("far")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def change(text: str) -> str:
    """Change something."""
    return f"changed {text}"


if __name__ == "__main__":
    way = "streamable-http" if sys.argv[2] == "http" else "sse"
    server.run(way, host="127.0.0.1", port=int(sys.argv[1]))
