"""What clients ask of skills, as the SDK wants it described; it does not know the extension by itself."""

from mcp_types import RequestParams

__all__ = ["Paged", "Where"]


class Paged(RequestParams):
    """A request for a list, which is given as a whole."""

    cursor: str | None = None


class Where(RequestParams):
    """A request about one skill or one of its folders."""

    uri: str
    cursor: str | None = None
