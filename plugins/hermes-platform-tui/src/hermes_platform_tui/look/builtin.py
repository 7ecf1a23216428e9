"""The skins that come with the terminal. A module and not files: nothing is read before the first frame."""

from collections.abc import Iterator

from hermes_platform_tui.look.palette import BASE
from hermes_platform_tui.look.skin import Branding, Skin, Spinner

__all__ = ["DARK", "LIGHT", "built_in"]

DARK = "default"
LIGHT = "daylight"

# In the order of palette.BASE:
# background surface panel foreground muted primary secondary accent success warning alert error border selection
_COLOURS = {
    "default": "#11131a #181b24 #20242f #e4e6ee #9aa1b5 #7cb7ff #b7a6ff #f2c14e #7fd38b #f0d264 #f7a35c #ff7b86"
    " #66708c #283855",
    "ares": "#170e0e #201313 #2b1918 #f2e4dc #b69a90 #ff8a75 #e0a878 #f0c060 #a3c76d #f0cf5a #ff9d4d #ff7f9a"
    " #8f5f52 #5a2620",
    "mono": "#101010 #181818 #222222 #ececec #a3a3a3 #ffffff #cfcfcf #e0e0e0 #b8b8b8 #d0d0d0 #e6e6e6 #ffffff"
    " #707070 #393939",
    "slate": "#0f1720 #16202b #1e2a37 #dbe5ee #93a4b5 #7fb4e6 #9fc0d8 #5fd0c5 #82cf9a #e6ca6a #eba35e #f28b8b"
    " #5f768c #243a51",
    "daylight": "#fbfbfa #f3f3f1 #e9e9e6 #1d2025 #595f69 #0b5cad #6a3fb5 #8a4b00 #1b6e35 #7a5600 #a14600 #b3202c"
    " #7c828d #cae0f8",
    "warm-lightmode": "#fdf6e7 #f6ecd7 #ede0c5 #33281a #655742 #8a3c10 #6b4a86 #96300f #3b5f13 #6d4d00 #8f3c00"
    " #a8231c #8f7c5b #f0cf93",
    "poseidon": "#06161c #0b1f27 #122c36 #dcf1f2 #8db0b5 #4fd1d9 #7fb2ff #f3d08a #6fdca0 #ecd468 #f5a667 #ff8585"
    " #467d89 #11434f",
    "sisyphus": "#151413 #1d1b19 #282522 #e6e0d8 #a69d92 #d3b88c #a9b7a0 #d99a6c #a7c080 #dbc074 #e69875 #ea8683"
    " #786f64 #3a342d",
    "charizard": "#141017 #1c1620 #271d2a #f6e9df #b3a0a4 #ff9a4a #6fc7d9 #ffd166 #8fd694 #f7d154 #f58b3d #ff7d7d"
    " #836a76 #563020",
}

_OWN: dict[str, dict[str, str]] = {
    # Greys alone would make both sides of a difference look the same.
    "mono": {"diff_added": "#ffffff", "diff_removed": "#a8a8a8", "code": "#ececec", "status_bad": "#f4f4f4"},
    "daylight": {"code": "#7a2350"},
    "warm-lightmode": {"code": "#6b3a12"},
}

_ABOUT = {
    "default": "Ink and gold: a night sky, a messenger's lamp.",
    "ares": "Embers and bronze on burnt red.",
    "mono": "Greys only.",
    "slate": "Cool blue greys, quiet.",
    "daylight": "Black on white, for bright rooms.",
    "warm-lightmode": "Brown ink on cream paper.",
    "poseidon": "Deep water, foam and sand.",
    "sisyphus": "Stone, moss and patience.",
    "charizard": "Orange flame over dusk.",
}

_WORDS: dict[str, Branding] = {
    "ares": Branding(
        agent_name="Ares",
        welcome="Name the target. / lists the commands.",
        goodbye="Until the next campaign.",
        response_label="Ares",
        prompt_symbol="❱",
        help_header="Orders",
    ),
    "mono": Branding(prompt_symbol=">"),
    "poseidon": Branding(
        agent_name="Poseidon",
        welcome="The water is calm. Type a message, or / for commands.",
        goodbye="Fair winds.",
        response_label="Poseidon",
        prompt_symbol="≈",
        help_header="Charts",
    ),
    "sisyphus": Branding(
        agent_name="Sisyphus",
        welcome="The stone is waiting. Type a message, or / for commands.",
        goodbye="Tomorrow, up again.",
        response_label="Sisyphus",
        prompt_symbol="●",
        help_header="The way up",
    ),
    "charizard": Branding(
        agent_name="Charizard",
        welcome="Warmed up. Type a message, or / for commands.",
        goodbye="Embers banked.",
        response_label="Charizard",
        prompt_symbol="▲",
        help_header="Moves",
    ),
}

_VERBS = ("thinking", "pondering", "weighing", "sketching", "sifting", "joining the dots")
_SPINNERS: dict[str, Spinner] = {
    "ares": Spinner(frames=("▖", "▘", "▝", "▗"), verbs=("scouting", "drilling", "sharpening", "advancing", "holding")),
    "mono": Spinner(verbs=("working",)),
    "poseidon": Spinner(
        frames=("▁▂▃", "▂▃▂", "▃▂▁", "▂▁▂"), verbs=("sounding", "drifting", "charting", "diving", "surfacing")
    ),
    "sisyphus": Spinner(
        frames=("●··", "·●·", "··●", "·●·"), verbs=("pushing", "leaning in", "climbing", "starting over")
    ),
    "charizard": Spinner(
        frames=("▁", "▃", "▅", "▇", "▅", "▃"), verbs=("kindling", "stoking", "circling", "breathing in")
    ),
}

_PREFIXES = {"ares": "╎", "poseidon": "│", "sisyphus": "·", "mono": "|"}


def built_in() -> Iterator[Skin]:
    """Every skin that comes with the terminal, the default first."""
    for name, colours in _COLOURS.items():
        yield Skin(
            name=name,
            description=_ABOUT[name],
            dark=name not in {"daylight", "warm-lightmode"},
            given=dict(zip(BASE, colours.split(), strict=True)) | _OWN.get(name, {}),
            spinner=_SPINNERS.get(name, Spinner(verbs=_VERBS)),
            branding=_WORDS.get(name, Branding()),
            tool_prefix=_PREFIXES.get(name, "┊"),
        )
