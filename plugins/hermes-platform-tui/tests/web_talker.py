"""A program for a browser that is no screen, and therefore there at once: what it shows is its number. FOLDER."""

import json
import os
import signal
import sys
from pathlib import Path


def say(text: bytes) -> None:
    sys.stdout.buffer.write(b"D" + len(text).to_bytes(4, "big") + text)
    sys.stdout.buffer.flush()


def hang(folder: Path) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    (folder / "hung").write_text("")
    while True:
        signal.pause()


def main(folder: Path) -> None:
    (folder / f"pid-{os.getpid()}").write_text("")
    sys.stdout.buffer.write(b"__GANGLION__\n")
    say(f"hello from {os.getpid()}".encode())
    while head := sys.stdin.buffer.read(5):
        said = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
        if head[:1] == b"M" and json.loads(said)["type"] == "quit":
            return
        if said == b"h":
            hang(folder)
        if said == b"f":
            print("\x1b[31mno such model", file=sys.stderr, flush=True)
            os._exit(3)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
