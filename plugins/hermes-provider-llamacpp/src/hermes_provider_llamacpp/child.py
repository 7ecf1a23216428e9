"""The process that holds a model: it reads orders, a JSON object a line, and writes what comes of them.

It is one of its own because the library takes over Ctrl+C and SIGTERM, ends the process where a file is not as it
should be, and gives memory back only by its end. It ends when nobody is at the other side any more.

The first line is what to open: ``path``, ``room``, ``threads``, ``gpu_layers``. Then ``{"id": 1, "body": {…}}`` asks,
in the form of the chat-completions protocol, and ``{"stop": 1}`` ends that. What is written: ``ready``, or ``failed``
with words; for each order ``chunk``s, or ``failed``, and ``end``.
"""

import json
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from threading import Lock, Thread
from typing import Any, BinaryIO

__all__ = ["main"]

_QUIET = 1  # how much the library tells: what went wrong


class _Child:
    def __init__(self, out: BinaryIO) -> None:
        self._out, self._lock = out, Lock()
        self._stopped: set[int] = set()
        self._server: Any = None

    def say(self, **what: Any) -> None:
        """Write one line; who cannot has nobody to work for."""
        try:
            with self._lock:
                self._out.write(json.dumps(what).encode() + b"\n")
                self._out.flush()
        except OSError:
            os._exit(0)

    def open(self, order: dict[str, Any]) -> None:
        """Load the model. Raises RuntimeError, ImportError."""
        import xllamacpp  # type: ignore[import-untyped]

        params = xllamacpp.CommonParams()
        params.model.path = order["path"]
        params.n_ctx, params.n_parallel = order["room"], 1
        params.n_gpu_layers = order["gpu_layers"]
        if order["threads"]:
            params.cpuparams.n_threads = order["threads"]
        params.use_jinja, params.warmup, params.verbosity = True, False, _QUIET
        params.ctx_shift = False  # what does not fit is an error, and nothing is cut
        params.endpoint_slots = params.endpoint_props = False
        # The library listens, too. It does so where nobody is let in, with a key that nobody has, and the place goes
        # as soon as it does: it cannot be reached.
        folder = Path(tempfile.mkdtemp(prefix="hermes-gguf-"))
        os.chdir(folder)  # the path of a socket may not be long
        try:
            params.hostnames, params.api_keys = ["closed.sock"], [secrets.token_hex()]
            self._server = xllamacpp.Server(params)
        finally:
            os.chdir("/")
            shutil.rmtree(folder, ignore_errors=True)

    def take(self, order: dict[str, Any]) -> None:
        """Answer, or stop answering; an answer is given beside the next orders."""
        if "stop" in order:
            self._stopped.add(order["stop"])
        else:
            Thread(target=self._answer, args=(order["id"], order["body"]), daemon=True).start()

    def _answer(self, number: int, body: dict[str, Any]) -> None:
        def chunk(piece: Any) -> bool:
            self.say(id=number, chunk=piece)
            return number in self._stopped

        try:
            self._server.handle_chat_completions(body, chunk)
        except Exception as error:  # noqa: BLE001 - the library raises what it likes; the other side says it
            self.say(id=number, failed=str(error)[:2_000])
        self.say(id=number, end=True)


def main() -> None:
    """Open a model and answer, until nobody asks any more."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints is none of ours
    child = _Child(out)
    try:
        child.open(json.loads(sys.stdin.buffer.readline()))
    except (RuntimeError, ImportError, ValueError, OSError) as error:
        child.say(failed=str(error)[:2_000])
        return
    child.say(ready=True)
    for line in sys.stdin.buffer:
        child.take(json.loads(line))
    os._exit(0)


if __name__ == "__main__":
    main()
