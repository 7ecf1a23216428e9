"""What an exit status means, where that is not plain."""

_NO_MATCH = "no match; not an error"
_DIFFER = "they differ; not an error"
_BY_PROGRAM = {
    ("grep", 1): _NO_MATCH,
    ("egrep", 1): _NO_MATCH,
    ("fgrep", 1): _NO_MATCH,
    ("rg", 1): _NO_MATCH,
    ("ag", 1): _NO_MATCH,
    ("ack", 1): _NO_MATCH,
    ("pgrep", 1): "no such process; not an error",
    ("diff", 1): _DIFFER,
    ("cmp", 1): _DIFFER,
    ("test", 1): "the condition is false",
    ("[", 1): "the condition is false",
    ("[[", 1): "the condition is false",
    ("find", 1): "some places could not be read",
    ("curl", 6): "host not found",
    ("curl", 7): "connection refused",
    ("curl", 22): "HTTP error",
    ("curl", 28): "timed out",
    ("pytest", 1): "tests failed",
    ("pytest", 5): "no tests found",
}
_ANY = {
    126: "not executable",
    127: "command not found",
    130: "interrupted",
    134: "aborted",
    137: "killed, perhaps out of memory",
    139: "segmentation fault",
    141: "closed pipe",
    143: "terminated",
}


def explain(program: str, status: int) -> str:
    """A few words on a status, or nothing when the number says it all."""
    return _BY_PROGRAM.get((program, status)) or _ANY.get(status, "")
