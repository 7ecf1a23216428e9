"""A "no" of the proxy, and how a client is told."""

__all__ = ["Refusal"]

_PHRASES = {
    400: "Bad Request",
    403: "Forbidden",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
_LONGEST = 300  # characters of the reason beside the status, which is all that pip and git show


class Refusal(Exception):
    """``status`` is HTTP's, ``why`` one sentence without its full stop, ``mend`` what would allow it."""

    def __init__(self, status: int, why: str, mend: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.mend = mend

    @property
    def answer(self) -> bytes:
        """The response: the reason stands beside the status too, since most clients show no body of a proxy."""
        text = f"{self.why}. {self.mend}".strip() if self.why else _PHRASES[self.status]
        line = "".join(character if " " <= character < "\x7f" else "?" for character in text)
        body = f"{line}\n".encode("ascii")
        head = [f"HTTP/1.1 {self.status} {line[:_LONGEST]}", "Content-Type: text/plain; charset=us-ascii"]
        if self.status == 407:
            head.append('Proxy-Authenticate: Basic realm="Hermes"')
        head += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
        return "\r\n".join(head).encode("ascii") + body
