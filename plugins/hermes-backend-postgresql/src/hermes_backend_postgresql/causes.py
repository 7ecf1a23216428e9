"""What can go wrong on a server, in plain words, with the mend."""

import re

import psycopg

__all__ = ["AGAIN", "cause_of", "code_of"]

# By the start of an SQLSTATE: cause, what to do now. Those in AGAIN may go well a moment later.
_CAUSES: dict[str, tuple[str, str]] = {
    "28": (
        "it refuses the user or the password",
        "Check user and password in store.url, and the server's pg_hba.conf.",
    ),
    "3D000": ("it has no database of that name", "Create it on the server: createdb NAME"),
    "42501": ("the user may not do that there", "Make the user the owner: ALTER DATABASE name OWNER TO user"),
    "25006": ("it is read-only", "Name the primary server in store.url, not a standby."),
    "53100": ("its disk is full", "Free some space on the server; what was stored before is safe."),
    "53200": ("it is out of memory", "Give the server more memory, or try again."),
    "53300": ("all its connections are taken", "Raise max_connections on the server, or run fewer programs."),
    "54000": ("one value is too big", "Split what is to be stored."),
    "55P03": ("somebody else kept what is needed locked", "Close the program that holds it."),
    "57P0": ("it is starting or stopping", "Try again in a moment."),
    "40": ("others write the same rows all the time", "Try again."),
    "08": ("it cannot be reached", "Check that the server runs, and host and port in store.url."),
}
AGAIN = ("40", "53300", "55P03", "57P0", "08")
# The driver gives no SQLSTATE for a connection that was refused; the words are the server's or libpq's.
_WORDS = {
    "28": 'authentication failed|no password supplied|no pg_hba.conf entry|role ".*" (does not exist|is not permitted)',
    "3D000": 'database ".*" does not exist',
    "42501": "permission denied",
    "53300": "too many (clients|connections)|remaining connection slots",
    "57P0": "starting up|shutting down|not yet accepting|recovery mode",
}


def code_of(error: psycopg.Error) -> str:
    """The SQLSTATE of an error, or the start of the one it should have; 08 when the connection is no more."""
    if error.sqlstate:
        return error.sqlstate
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return ""
    return next((code for code, words in _WORDS.items() if re.search(words, str(error))), "08")


def cause_of(code: str) -> tuple[str, str]:
    """The cause behind an SQLSTATE, and what to do now; empty where the server says it best."""
    return next((row for start, row in _CAUSES.items() if code.startswith(start)), ("it said", ""))
