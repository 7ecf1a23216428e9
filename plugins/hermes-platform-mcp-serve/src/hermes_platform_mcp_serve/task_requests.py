"""What clients ask of tasks, as the SDK wants it described; it does not know the extension by itself."""

from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import HEADER_MISMATCH, RequestParams

__all__ = ["Named", "Update", "check_name"]


class Named(RequestParams):
    """A request about one task."""

    task_id: str


class Update(Named):
    """Answers to what a task waits for."""

    input_responses: dict[str, Any]


def check_name(request: Any, task: str) -> None:
    """Make sure that the header by which a request is led names the task of its body. Raises MCPError."""
    if request.request is None:  # pipes have no headers
        return
    if decode_header_value(request.request.headers.get(MCP_NAME_HEADER)) != task:
        raise MCPError(HEADER_MISMATCH, f"{MCP_NAME_HEADER} does not name the task of the request.")
