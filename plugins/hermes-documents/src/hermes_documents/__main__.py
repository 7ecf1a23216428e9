"""The process that reads one document: ``python -I -m hermes_documents NAME SECONDS MEMORY`` with it on stdin."""

import os
import resource
import sys

from hermes_documents.kinds import convert
from hermes_documents.reading import CHARACTERS, Unreadable


def main() -> int:
    """Write the document's Markdown to stdout. 3: it is unreadable, as stderr says; 4: it does not fit into memory."""
    name, seconds, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes no file
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no part of the document
    try:
        text = convert(sys.stdin.buffer.read(), name, seconds)
    except Unreadable as error:
        sys.stderr.write(f"{error}\n")
        return 3
    except MemoryError:
        return 4
    if len(text) > CHARACTERS:
        text = f"{text[:CHARACTERS]}\n\n[cut: {len(text) - CHARACTERS:,} more characters]\n"
    out.write(text.encode(errors="replace"))
    out.flush()
    return 0


if __name__ == "__main__":
    # What libraries leave to the end of a process costs time and may fail; the answer is out.
    status = main()
    sys.stderr.flush()
    os._exit(status)
