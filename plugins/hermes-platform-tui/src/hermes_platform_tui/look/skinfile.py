"""Reading a skin that somebody wrote: every problem at once, each with its line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import yaml

from hermes_core.errors import nearest
from hermes_platform_tui.look.colour import TEXT, Rgb, contrast
from hermes_platform_tui.look.palette import ALIASES, DERIVED, NAMES, PAIRS
from hermes_platform_tui.look.skin import UNSAFE, Branding, Skin, Spinner

__all__ = ["LARGEST", "BrokenSkin", "hard_to_read", "read_skin"]

LARGEST = 64 * 1024
"""A longer file is no skin, whatever it is."""
_MOST = 64
_DEEPEST = 8
_BRANDING = tuple(field.name for field in attrs.fields(Branding))
_SPINNER = ("frames", "faces", "waiting_faces", "thinking_faces", "verbs", "thinking_verbs", "wings")
_KEYS = (
    "name",
    "description",
    "dark",
    "extends",
    "colors",
    "spinner",
    "branding",
    "tool_prefix",
    "tool_emojis",
)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BrokenSkin(Exception):
    """A skin that cannot be used; ``problems`` has one line for each thing that is wrong."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class _Page:
    """One file while it is read. What is wrong is noted, and reading goes on."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[tuple[int, str]] = []

    def note(self, node: yaml.Node | None, path: str, what: str) -> None:
        self.tell(node.start_mark.line + 1 if node is not None and node.start_mark else 0, path, what)

    def tell(self, line: int, path: str, what: str) -> None:
        where = f":{line}" if line else ""
        self._found.append((line, f"{self.source}{where}{' ' + path if path else ''}: {what}"))

    @property
    def problems(self) -> list[str]:
        """In the order of the lines."""
        return [text for _, text in sorted(self._found, key=lambda found: found[0])]

    def section(
        self, node: yaml.Node | None, path: str, known: Iterable[str] | None, what: str = "key"
    ) -> dict[str, Any]:
        """The values of a mapping by key; an unknown or repeated key is a problem."""
        if node is None or _empty(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self.note(node, path, "must be a mapping of names to values")
            return {}
        names = None if known is None else tuple(known)
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = _shown(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            here = f"{path}.{name}" if path else name
            if names is not None and name not in names:
                close = nearest(name, names)
                self.note(key, here, f"no such {what}" + (f"; did you mean {close}?" if close else ""))
            elif name in found:
                self.note(key, here, "is given twice")
            else:
                found[name] = value
        return found

    def text(self, node: yaml.Node | None, path: str, longest: int, otherwise: str = "") -> str:
        """One line of text without characters that a terminal obeys."""
        if node is None:
            return otherwise
        if not isinstance(node, yaml.ScalarNode):
            self.note(node, path, "must be text")
        elif UNSAFE.search(node.value):
            self.note(node, path, "has characters that a terminal would obey")
        elif len(node.value) > longest:
            self.note(node, path, f"is longer than {longest} characters")
        else:
            return str(node.value)
        return otherwise

    def texts(self, node: yaml.Node | None, path: str, longest: int) -> tuple[str, ...]:
        """A list of such texts."""
        if node is None or _empty(node):
            return ()
        if not isinstance(node, yaml.SequenceNode):
            self.note(node, path, "must be a list")
            return ()
        if len(node.value) > _MOST:
            self.note(node, path, f"has more than {_MOST} entries")
            return ()
        return tuple(
            text for at, entry in enumerate(node.value) if (text := self.text(entry, f"{path}[{at}]", longest))
        )

    def flag(self, node: yaml.Node | None, path: str, otherwise: bool) -> bool:
        """Yes or no."""
        if node is None:
            return otherwise
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":bool"):
            return node.value.lower() in {"true", "yes", "on"}
        self.note(node, path, "must be true or false")
        return otherwise

    def colour(self, node: yaml.Node, path: str) -> str:
        """A colour as ``#rrggbb``, or nothing."""
        text = self.text(node, path, 64).strip()
        if not isinstance(node, yaml.ScalarNode):
            return ""
        # YAML takes an unquoted #1e90ff for a comment: the commonest slip in a file of colours.
        if not text:
            self.note(node, path, 'is empty; write a colour in quotes: "#1e90ff"')
            return ""
        try:
            return _opaque(text)
        except ValueError:
            self.note(node, path, f'{text!r} is not a colour; write "#1e90ff" or a name of CSS')
            return ""


def _empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null")


def _shown(text: str) -> str:
    return UNSAFE.sub("?", text)[:40]


def _opaque(text: str) -> str:
    from textual.color import Color, ColorParseError

    try:
        colour = Color.parse(text)
    except ColorParseError as error:
        raise ValueError(text) from error
    if colour.a != 1 or colour.ansi is not None or colour.auto:
        raise ValueError(text)
    return Rgb(*colour.rgb).hex


def read_skin(name: str, source: str, text: str, parents: Mapping[str, Skin]) -> Skin:
    """Read a skin; ``source`` is how its problems name it. What is missing is that of its parent.

    The parent is what ``extends`` names, and without it ``default``, or ``daylight`` for one that is not dark.
    """
    page = _Page(source)
    top = page.section(_compose(page, text), "", _KEYS)
    page.text(top.get("name"), "name", 64)
    dark = page.flag(top.get("dark"), "dark", True)
    parent = _parent(page, top.get("extends"), "default" if dark else "daylight", parents)
    if "dark" not in top:
        dark = parent.dark
    given = _colours(page, top.get("colors"))
    words = page.section(top.get("branding"), "branding", _BRANDING)
    skin = Skin(
        name=name,
        description=page.text(top.get("description"), "description", 200),
        dark=dark,
        given={**_inherited(parent, given), **given},
        spinner=_spinner(page, top.get("spinner"), parent.spinner),
        branding=attrs.evolve(
            parent.branding,
            **{
                key: page.text(node, f"branding.{key}", 12 if key == "prompt_symbol" else 200)
                for key, node in words.items()
            },
        ),
        tool_prefix=page.text(top.get("tool_prefix"), "tool_prefix", 8, parent.tool_prefix),
        tool_emojis={**parent.tool_emojis, **_emojis(page, top.get("tool_emojis"))},
    )
    if page.problems:
        raise BrokenSkin(page.problems)
    return skin


def _compose(page: _Page, text: str) -> yaml.Node | None:
    if len(text) > LARGEST:
        page.note(None, "", f"is longer than {LARGEST // 1024} KB")
        raise BrokenSkin(page.problems)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            # Counted first: libyaml composes by recursion in C, and deep nesting ends the process.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise ValueError("too deeply nested")
        node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        what = _shown(str(getattr(error, "problem", "") or error))
        page.tell(mark.line + 1 if mark is not None else 0, "", f"is not YAML: {what}")
        raise BrokenSkin(page.problems) from error
    return node


def _parent(page: _Page, node: yaml.Node | None, usual: str, parents: Mapping[str, Skin]) -> Skin:
    name = page.text(node, "extends", 64, usual)
    if name in parents:
        return parents[name]
    close = nearest(name, parents)
    page.note(node, "extends", "no such built-in skin" + (f"; did you mean {close}?" if close else ""))
    return parents[usual]


def _inherited(parent: Skin, given: Mapping[str, str]) -> dict[str, str]:
    """The parent's colours, without those that follow from one that is now another."""
    return {name: value for name, value in parent.given.items() if DERIVED.get(name) not in given}


def _colours(page: _Page, node: yaml.Node | None) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in page.section(node, "colors", (*NAMES, *ALIASES), "colour").items():
        ours = ALIASES.get(name, name)
        colour = page.colour(value, f"colors.{name}")
        if not colour:
            continue
        # Two of another program's names may be one of ours: the first stays, our own name wins.
        if ours not in given or name == ours:
            given[ours] = colour
    return given


def _spinner(page: _Page, node: yaml.Node | None, parent: Spinner) -> Spinner:
    found = page.section(node, "spinner", _SPINNER)

    def either(*names: str) -> tuple[str, ...]:
        lists = [page.texts(found.get(name), f"spinner.{name}", 40) for name in names]
        return next(filter(None, lists), ())

    wings = []
    pairs = found.get("wings")
    if pairs is not None and not isinstance(pairs, yaml.SequenceNode):
        page.note(pairs, "spinner.wings", "must be a list of pairs")
    elif pairs is not None:
        for at, entry in enumerate(pairs.value[:_MOST]):
            pair = page.texts(entry, f"spinner.wings[{at}]", 12)
            if len(pair) == 2:
                wings.append((pair[0], pair[1]))
            else:
                page.note(entry, f"spinner.wings[{at}]", "must be two texts, left and right")
    return Spinner(
        frames=either("frames") or parent.frames,
        faces=either("faces", "thinking_faces", "waiting_faces") or parent.faces,
        verbs=either("verbs", "thinking_verbs") or parent.verbs,
        wings=tuple(wings) or parent.wings,
    )


def _emojis(page: _Page, node: yaml.Node | None) -> dict[str, str]:
    found = page.section(node, "tool_emojis", None)
    return {name: page.text(value, f"tool_emojis.{name}", 8) for name, value in found.items()}


def hard_to_read(skin: Skin) -> list[str]:
    """What can hardly be read in a skin, the most common first. It is used all the same: it is somebody's own."""
    colours = skin.colors
    found = [(contrast(Rgb.parse(colours[a]), Rgb.parse(colours[b])), a, b) for a, b in PAIRS]
    # What follows from another colour is told after that one.
    found.sort(key=lambda pair: pair[1] in DERIVED or pair[2] in DERIVED)
    return [f"{a} on {b} ({ratio:.1f}:1, {TEXT}:1 is wanted)" for ratio, a, b in found if ratio < TEXT]
