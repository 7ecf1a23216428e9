"""Which skins there are, and which one is shown."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from hermes_core.errors import nearest
from hermes_core.values import frozen
from hermes_platform_tui.look.background import from_colorfgbg
from hermes_platform_tui.look.builtin import DARK, LIGHT, built_in
from hermes_platform_tui.look.colour import Rgb
from hermes_platform_tui.look.palette import BASE
from hermes_platform_tui.look.skin import UNSAFE, Skin

__all__ = ["Skins", "chosen", "load_skins", "variable_defaults"]

_MOST_FILES = 100
_KEPT = "auto"


@frozen
class Skins:
    """Every skin that can be used, and what was wrong with the others, one notice for each file."""

    _by_name: Mapping[str, Skin]
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names: built-in ones first, then somebody's own in order of the alphabet."""
        return tuple(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Skin]:
        return iter(self._by_name.values())

    def get(self, name: str) -> Skin:
        """The skin of that name, or the default."""
        return self._by_name.get(name) or self._by_name[DARK]

    def explain(self, name: str) -> str:
        """Why there is no such skin, in one sentence; nothing when there is."""
        if name in self._by_name:
            return ""
        broken = next((text for text in self.problems if text.startswith(f"skins/{name}.y")), "")
        close = nearest(name, self._by_name)
        there = f"did you mean {close}?" if close else f"there is {', '.join(self._by_name)}"
        return broken or f"There is no skin {UNSAFE.sub('?', name)[:40]!r}; {there}"


def load_skins(home: Path) -> Skins:
    """The built-in skins and those in ``<home>/skins/``. Never fails: what is broken is a notice."""
    ours = {skin.name: skin for skin in built_in()}
    found, problems = dict(ours), []
    for path in _files(home / "skins"):
        source = f"skins/{UNSAFE.sub('?', path.name)}"
        # YAML is read only when there is something to read: a start without own skins does not pay for it.
        from hermes_platform_tui.look.skinfile import BrokenSkin, hard_to_read, read_skin

        name = path.stem
        if UNSAFE.search(name) or name == _KEPT or "," in name:
            problems.append(f"{source}: a skin cannot have this name")
            continue
        try:
            skin = read_skin(name, source, _text(path), ours)
        except BrokenSkin as error:
            problems.append("\n".join(error.problems))
            continue
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            problems.append(f"{source}: cannot be read: {reason}")
            continue
        if poor := hard_to_read(skin):
            more = f" and {len(poor) - 1} more" if len(poor) > 1 else ""
            problems.append(f"{source}: hard to read: {poor[0]}{more}")
        found[name] = skin
    return Skins(found, tuple(problems))


def _text(path: Path) -> str:
    from hermes_platform_tui.look.skinfile import LARGEST

    with path.open("rb") as file:
        return file.read(4 * LARGEST + 4).decode("utf-8-sig")


def _files(folder: Path) -> list[Path]:
    try:
        files = [path for path in folder.iterdir() if path.suffix in {".yaml", ".yml"} and path.is_file()]
    except OSError:
        return []
    return sorted(files)[:_MOST_FILES]


def chosen(
    config_value: str, environ: Mapping[str, str], background: Rgb | None = None, skins: Skins | None = None
) -> str:
    """The name of the skin to show. It need not exist: ``Skins.get`` and ``explain`` deal with that.

    ``HERMES_TUI_THEME`` (light, dark or a name) wins over what is configured, and that over ``COLORFGBG`` and what
    the terminal said of its background. A configured skin stays when it is as light or dark as is asked for.
    """
    configured = "" if config_value == _KEPT else config_value
    asked = environ.get("HERMES_TUI_THEME", "").strip()
    if asked and asked not in {"light", "dark", _KEPT}:
        return asked
    if asked in {"light", "dark"}:
        dark = asked == "dark"
        fits = configured and skins is not None and configured in skins and skins.get(configured).dark is dark
        return configured if fits else (DARK if dark else LIGHT)
    if configured:
        return configured
    told = from_colorfgbg(environ.get("COLORFGBG", ""))
    if told is None and background is not None:
        told = background.dark
    return LIGHT if told is False else DARK


def variable_defaults() -> dict[str, str]:
    """For ``App.get_theme_variable_defaults``: our variables, so that styles that use them suit any theme."""
    colours = next(built_in()).colors
    return {name.replace("_", "-"): value for name, value in colours.items() if name not in BASE}
