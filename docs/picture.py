"""Take the picture of the README: a real conversation in a real terminal (tmux), drawn as SVG.

``uv run --with rich python docs/picture.py`` writes docs/_static/conversation.svg. It needs tmux.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

OUT = Path(__file__).with_name("_static") / "conversation.svg"
WIDTH, HEIGHT = 92, 48
THEME = TerminalTheme(
    (24, 26, 31),
    (214, 217, 224),
    [
        (60, 64, 75),
        (229, 115, 115),
        (140, 200, 120),
        (224, 188, 105),
        (110, 168, 240),
        (200, 140, 220),
        (95, 190, 200),
        (214, 217, 224),
    ],
    [
        (124, 130, 145),
        (240, 140, 140),
        (165, 220, 145),
        (240, 208, 130),
        (140, 188, 250),
        (218, 165, 235),
        (125, 210, 218),
        (245, 246, 250),
    ],
)
FILES = {
    "packing.md": "# Packing\n\n## Clothes\n\nWool, rain jacket.\n\n## Papers\n\nPassport, tickets.\n",
    "route.md": "# Route\n\nThe train to Oslo leaves at nine.\n",
    "costs.csv": "what,nok\ntrain,799\nhut,450\n",
}
SCENES = (
    ("List the files here, read packing.md and tell me its headings, then run python --version", "May this run"),
    ("o", "python --version gave"),
)


def main() -> None:
    """Play the conversation and draw what is on the screen at its end."""
    with tempfile.TemporaryDirectory() as folder:
        home, trip = Path(folder), Path(folder) / "trip"
        trip.mkdir()
        for name, text in FILES.items():
            (trip / name).write_text(text, encoding="utf-8")
        server = f"hermes-picture-{os.getpid()}"
        try:
            screen = play(server, home, trip)
        finally:
            subprocess.run(["tmux", "-L", server, "kill-server"], check=False, capture_output=True)
    OUT.write_text(draw(screen.replace(str(trip), "~/trip")), encoding="utf-8")


def play(server: str, home: Path, trip: Path) -> str:
    """The screen, with its colors, after the last scene."""

    def tmux(*words: str) -> str:
        return subprocess.run(["tmux", "-L", server, *words], check=True, capture_output=True, text=True).stdout

    def wait(words: str) -> None:
        until = time.monotonic() + 60
        while words not in tmux("capture-pane", "-p"):
            if time.monotonic() > until:
                raise SystemExit(f"{words!r} did not come:\n{tmux('capture-pane', '-p')}")
            time.sleep(0.1)
        time.sleep(1)  # what follows the words is drawn too

    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {"HOME": home, "PATH": path, "LANG": "C.UTF-8", "COLORTERM": "truecolor", "HERMES_HOME": ""}
    given = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
    size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
    tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(trip), *given, "bash --norc --noprofile")
    wait("bash")
    tmux("send-keys", "unset HISTFILE; PS1='$ '; clear; hermes", "Enter")
    wait("❯")
    for typed, awaited in SCENES:
        tmux("send-keys", "-l", typed)
        if len(typed) > 1:  # a question is answered by a key alone
            tmux("send-keys", "Enter")
        wait(awaited)
    screen = tmux("capture-pane", "-p", "-e").rstrip()
    tmux("send-keys", "/exit", "Enter")  # it closes its store before its home goes
    wait("\n$")
    return screen


def draw(screen: str) -> str:
    """The screen as SVG, without fonts from elsewhere."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(screen), no_wrap=True, crop=True)
        template = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
        svg = console.export_svg(title="hermes", theme=THEME, code_format=template, unique_id="hermes")
        return svg.replace('<text class="hermes-r', '<text xml:space="preserve" class="hermes-r')


if __name__ == "__main__":
    main()
