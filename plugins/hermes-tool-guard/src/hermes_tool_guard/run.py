"""One program with its arguments, and what judges of programs say about it."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from hermes_core.types import Effect
from hermes_tool_guard.arguments import Options, taken_apart
from hermes_tool_guard.branches import both
from hermes_tool_guard.byitself import is_usual, why_later
from hermes_tool_guard.escapes import Glob
from hermes_tool_guard.hidden import BUILTINS
from hermes_tool_guard.itself import is_for_a_person, runs_itself
from hermes_tool_guard.judgement import DERIVED, OPAQUE, RUNS, UNKNOWN, Class
from hermes_tool_guard.mentions import NAMERS, mentions, only_names
from hermes_tool_guard.places import Zone, emptied, normal
from hermes_tool_guard.scene import Folders, Scene, shown

__all__ = ["Options", "Program", "Run", "beginnings", "each", "names", "run"]

Program = Callable[["Run"], None]

_STANDARD = re.compile(
    r"(?:/usr|/usr/local|/opt/homebrew|/opt/local|/snap|/home/linuxbrew/\.linuxbrew)?/s?bin"
    r"|/(?:usr/)?lib/(?:git-core|systemd)|/usr/games|/opt/[\w.-]+/bin"
)
_ENVIRONMENT = re.compile(r"(?:^|/)(?:\.?venv|\.?env|virtualenv|node_modules/\.bin|vendor/bin)(?:/bin)?$")
_ABOUT = (["--version"], ["--help"])  # what every program tells of itself
_TAKES_WORDS = frozenset({"eval", "exec", "source", ".", "time", "command", "builtin", "xargs", "env", "parallel"})
_SAME_SHELL = frozenset({"builtin", "command", "time", "noglob", "nocorrect"})
_TEXT_ONLY = frozenset({"echo", "printf", ":", "true", "false", "test", "[", "export"})
_RESERVED = frozenset("if then else elif fi for while until do done case esac in function select { } [[ ]] !".split())  # noqa: SIM905 - read as a line
_ODD = re.compile(f"[{UNKNOWN}]")
_VERSION = re.compile(r"-?[\d.]+$")
_MINES = re.compile(r"(?i)xmrig.*|.*minerd?|t-rex|phoenixminer|kryptex|srbminer.*")
_SWITCH = re.compile(r"/proc/(?:sysrq-trigger|kcore)|/sys/(?:power/(?:state|disk)|kernel/.*/panic)|/dev/(?:mem|port)")


@cache
def names(text: str) -> frozenset[str]:
    """Names written side by side."""
    return frozenset(text.split())


@cache
def beginnings(text: str) -> tuple[str, ...]:
    """Beginnings of words written side by side, for ``startswith``."""
    return tuple(text.split())


def each(judge: Program, text: str) -> dict[str, Program]:
    """The same judge for every name."""
    return dict.fromkeys(text.split(), judge)


class Run:
    """A program about to be run. ``output`` is what it prints, if known; ``ok`` and ``failed`` where it ends."""

    def __init__(self, scene: Scene, argv: Sequence[str], folders: Folders, stdin: str | None) -> None:
        self.scene = scene
        self.argv = argv
        self.name = os.path.basename(argv[0]) if "/" in argv[0] else str(argv[0])  # noqa: PTH119
        self.args = list(argv[1:])
        self.folders = self.ok = self.failed = folders
        self.stdin = stdin
        self.output = DERIVED
        self.noted = self.asked = False  # whether anything was said of it; whether it may run what it is given
        self.did, self.looked = set[Class](), set[str]()  # what was said of it; the words that were taken for paths

    # --- saying what it does --------------------------------------------------------------------------------------

    def note(self, what: Class, *effects: Effect) -> None:
        """It does something that needs no yes. ``effects`` says more exactly what that is to the world."""
        self.noted = True
        self.did.add(what)
        self.scene.note(what, effects)

    def ask(self, what: Class, reason: str, *, lost: bool = False) -> None:
        """It does something that needs a yes. ``lost``: something of the folder, and no snapshot has it."""
        self.noted, self.asked = True, self.asked or what in RUNS
        self.scene.ask(what, reason, lost=lost)

    def deny(self, what: Class, reason: str) -> None:
        """It does what is never done."""
        self.scene.deny(what, reason)

    def options(self, valued: Iterable[str] = (), *, single: bool = False) -> Options:
        """Take the arguments apart. ``valued`` options take one; ``single``: long options have one dash."""
        return taken_apart(self.args, valued, single=single)

    def unknown(self, words: Iterable[str]) -> bool:
        """Whether a word is not known; asks if so, for it may be an option that changes everything."""
        for word in words:
            if any(c in word for c in UNKNOWN):
                self.ask(Class.UNCLEAR, f"gives {self.name} arguments that are only known when it runs")
                return True
        return False

    # --- files ----------------------------------------------------------------------------------------------------

    def _zones(self, word: str, *, whole: bool = False) -> list[tuple[str, Zone]]:
        self.looked.add(word)
        return self.zones(word, whole=whole)

    def zones(self, word: str, *, whole: bool = False) -> list[tuple[str, Zone]]:
        """The paths that a word may stand for, and what kind of place each is."""
        self.scene.step()
        paths = self.scene.places.absolute(word, self.folders)
        return [(path, self.scene.places.zone(path, whole=whole)) for path in paths]

    def read(self, word: str) -> None:
        """It reads a file, or all files in a folder."""
        self.note(Class.READ)
        for _, zone in self._zones(word):
            if zone is Zone.GUARDED:
                self.deny(Class.HERMES, f"reads {shown(word)}, which belongs to Hermes itself")
            elif zone is Zone.CREDENTIAL and not (self.name in NAMERS and only_names(self)):
                self.ask(Class.CREDENTIALS, f"reads {shown(word)}, which may hold credentials")
            elif zone is Zone.SOCKET:
                self.ask(Class.SEND, f"opens a network connection through {shown(word)}")
            elif zone is Zone.DEVICE:
                self.ask(Class.KERNEL, f"reads the raw device {shown(word)}")
            elif zone is Zone.UNKNOWN and OPAQUE in word:
                self.ask(Class.UNCLEAR, "reads a file whose name is only known when it runs")

    def read_all(self, word: str) -> None:
        """It reads everything below a folder."""
        self.read(word)
        for path, zone in self._zones(word, whole=True):
            if zone is Zone.GUARDED and self.scene.places.keeps_guarded(path):
                self.deny(Class.HERMES, f"reads everything in {shown(word)}, where files of Hermes itself are")
            elif zone is Zone.GUARDED:
                self.ask(Class.HERMES, f"reads everything in {shown(word)}, files of Hermes itself too")
            if self.scene.places.vital(normal(path)) or _SETTINGS.search(path):
                self.ask(Class.CREDENTIALS, f"reads everything in {shown(word)}, credentials too")

    def write(self, word: str, *, what: str = "writes to", keeps: bool = False) -> None:
        """It makes or changes a file; with ``keeps`` what was in it stays."""
        places = self.scene.places
        for path, zone in self._zones(word):
            self.written(path, same=keeps)
            self._later(path, zone, f"{what} {shown(word)}")
            if not keeps and places.vital_file(path):
                self.deny(Class.WRITE_OUTSIDE, f"overwrites {shown(word)}, which everything else depends on")
            if not keeps and self.name in _REPLACES and (losses := self.scene.lost()) and losses.overwritten(path):
                self.ask(Class.DELETE, f"overwrites {shown(word)}, which no snapshot has", lost=True)
            if zone not in _PLAIN and self.name not in ("mkdir", "redirection") and places.keeps_guarded(path):
                self.deny(Class.HERMES, f"{what} {shown(word)}, where files of Hermes itself are")
            if zone in (Zone.INSIDE, Zone.WORKSPACE):
                self.note(Class.WRITE)
            elif zone is Zone.TEMPORARY:
                self.note(Class.WRITE, *_SHARED)
            elif zone is Zone.GUARDED:
                self.deny(Class.HERMES, f"{what} {shown(word)}, which belongs to Hermes itself")
            elif zone is Zone.DEVICE:
                self.deny(Class.KERNEL, f"{what} the raw device {shown(word)}")
            elif any(map(_SWITCH.fullmatch, (normal(path), places.real(path)))):
                self.deny(Class.KERNEL, f"{what} {shown(word)}, which stops or breaks the machine")
            elif zone is not Zone.SINK:
                kind, why = _DELICATE[zone]
                self.ask(kind, f"{what} {shown(word)}, which {why}")
            else:
                self.noted = True

    def _later(self, path: str, zone: Zone, what: str) -> None:
        """Whether what it writes runs by itself later; CONFIGURE is what no isolation makes harmless."""
        if self.name in ("mkdir", "touch", "chmod") or not (why := why_later(self.scene.places, path)):
            return
        self.note(Class.PERSISTENCE, Effect.WRITE_FILES, Effect.EXECUTE, Effect.CONFIGURE)
        if zone not in (Zone.INSIDE, Zone.TEMPORARY) or not is_usual(why):
            self.ask(Class.PERSISTENCE, f"{what}, and {why}")

    def delete(self, word: str, *, recursive: bool = True, what: str = "deletes", loses: bool = True) -> None:
        """It takes a file or folder away, or changes all in it for good. Not ``loses``: it is still somewhere."""
        for path, zone in self._zones(word, whole=recursive):
            if zone is Zone.GUARDED:
                self.deny(Class.HERMES, f"{what} {shown(word)}, where files of Hermes itself are")
            elif (
                zone is Zone.VITAL
                or (recursive and self.scene.places.is_mount(normal(path)))
                or self.scene.places.vital_file(path)
            ):
                self.deny(Class.DELETE, f"{what} {shown(word)}, a place that everything else depends on")
            elif zone is Zone.DEVICE:
                self.deny(Class.KERNEL, f"{what} the raw device {shown(word)}")
            elif zone is Zone.WORKSPACE:
                self.ask(Class.DELETE, f"{what} everything in the folder", lost=True)
            elif loses and zone is not Zone.REPOSITORY and (lost := self._lost(path)):
                named = "" if normal(path).endswith(f"/{lost}") else f" with {lost}"
                self.ask(Class.DELETE, f"{what} {shown(word)}{named}, which no snapshot has", lost=True)
            elif zone is Zone.INSIDE:
                self.note(Class.DELETE)
            elif zone is Zone.TEMPORARY:
                self.note(Class.DELETE, *_SHARED)
            elif zone is not Zone.SINK:
                own = zone is Zone.REPOSITORY
                self.ask(Class.DELETE, f"{what} {shown(word)}, which {_DELICATE[zone][1]}", lost=own)

    def _lost(self, path: str) -> str:
        """What no snapshot has of a path."""
        losses = self.scene.lost()
        return losses.of(normal(path)) if losses and not any(c in path for c in UNKNOWN) else ""

    def written(self, path: str, *, same: bool = False) -> None:
        """Remember what this command line made: running it afterwards needs a yes. ``same``: what is in it stays."""
        if not same:
            self.scene.emptied_of((os.path.normpath(path),))
        if len(self.scene.written) < 200:
            self.scene.written.add(os.path.normpath(path))

    def script(self, word: str) -> None:
        """It runs a file as code."""
        for path, zone in self._zones(word):
            normal = os.path.normpath(path)
            if zone is Zone.GUARDED:
                self.deny(Class.HERMES, f"runs {shown(word)}, which belongs to Hermes itself")
            elif self.scene.was_written(normal):
                text = self.scene.contents.get(normal)
                sure = zone in (Zone.INSIDE, Zone.TEMPORARY) and normal not in self.scene.doubted
                if text is None or not self._read_through(normal, text) or not sure:
                    self.ask(Class.CODE, f"runs {shown(word)}, which the same command makes")
            elif zone is Zone.INSIDE:
                self.note(Class.PROJECT)
            elif zone is Zone.UNKNOWN:
                self.ask(Class.UNCLEAR, "runs a program that is only known when it runs")
            else:
                self.ask(Class.CODE, f"runs {shown(word)}, which is not part of the folder")

    def _read_through(self, path: str, text: str) -> bool:
        """Judge a script whose text is known; whether that could be read."""
        from hermes_tool_guard.programs.scripts import judged

        return judged(self, path, text)

    def inside(self, word: str) -> bool:
        """Whether a path is in the working folder or a temporary one, whatever folder it is used from."""
        return all(zone in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMPORARY) for _, zone in self._zones(word))

    # --- other programs -------------------------------------------------------------------------------------------

    def code(self, text: str, stdin: str | None = None) -> None:
        """It hands text to a shell."""
        from hermes_tool_guard.shell import judge_code

        self.noted = True
        self.ok = self.failed = judge_code(self.scene, text, self.folders, stdin)

    def inner(self, argv: Sequence[str], *, stdin: "str | None" = "") -> None:
        """It runs another program."""
        if not argv:
            return
        self.noted = True
        self.scene.step()
        one = Run(self.scene, argv, self.folders, self.stdin if stdin == "" else stdin)
        run(one)
        self.output = one.output
        if self.name in _SAME_SHELL:  # where it leads is where what follows runs, unless it is a program after all
            self.ok, self.failed = both(self.folders, one.ok), both(self.folders, one.failed)


_SETTINGS = re.compile(r"/(?:\.config|\.local|\.local/share|\.docker|Library|Library/Application Support|\.var)/*$")
_SHARED = (Effect.WRITE_FILES, Effect.EXECUTE)  # a temporary folder is everybody's: what takes a file there may run it
_REPLACES = names("redirection cp gcp mv rename install ditto tee curl wget")
_PLAIN = (Zone.INSIDE, Zone.TEMPORARY, Zone.SINK)
_DELICATE = {
    Zone.VITAL: (Class.WRITE_OUTSIDE, "everything else depends on"),
    Zone.SOCKET: (Class.SEND, "is a network connection"),
    Zone.CREDENTIAL: (Class.CREDENTIALS, "may hold credentials"),
    Zone.PERSISTENT: (Class.PERSISTENCE, "decides what runs later"),
    Zone.HARDWARE: (Class.KERNEL, "belongs to the kernel or a device"),
    Zone.UNKNOWN: (Class.UNCLEAR, "is only known when it runs"),
    Zone.OUTSIDE: (Class.WRITE_OUTSIDE, "is outside of the folder"),
    Zone.REPOSITORY: (Class.GIT_HISTORY, "git keeps its own data in"),
    Zone.WORKSPACE: (Class.WRITE, "is the folder itself"),
}


@cache
def _programs() -> "dict[str, Program]":
    from hermes_tool_guard.programs import PROGRAMS

    return PROGRAMS


def run(one: Run) -> None:
    """Judge one program with its arguments, and again as if all that is not known were nothing: ``ps $UNSET''auxe``."""
    _run(one)
    together = "".join(one.args)
    if (OPAQUE in together or DERIVED in together) and emptied(one.argv[0]):
        plain = [type(word)(emptied(word)) for word in one.argv]
        _run(Run(one.scene, [word for word in plain if word], one.folders, one.stdin))


def _run(one: Run) -> None:
    scene, word = one.scene, one.argv[0]
    scene.step(1 + len(one.args) // 8)
    if scene.record:
        scene.record(one.argv)
    if _unclear(one, word):
        return
    scene.found.programs[one.name] = None
    if runs_itself(one.argv, scene.protected.program):
        scene.reserved += 1
        if is_for_a_person(one.argv, scene.protected):
            one.deny(Class.HERMES, f"changes what {scene.protected.program} may do, which is a person's to change")
    if word in scene.functions:
        shell, body = scene.functions[word]
        scene.uncalled.pop(word, None)
        one.ok, one.failed = shell.call(body, one.args, one.folders, one.stdin)
        if word not in scene.doubtful:
            return
    if one.name in BUILTINS:
        BUILTINS[one.name](one)
    if one.args and one.name not in _TEXT_ONLY and not only_names(one):
        mentions(one)
    _judged(one, word)
    if one.asked or not one.noted:
        from hermes_tool_guard.programs.carried import carried

        carried(one)


def _judged(one: Run, word: str) -> None:
    """Judge a program that is no function."""
    scene, judge = one.scene, _programs().get(one.name)
    if judge is None and (bare := _VERSION.sub("", one.name)) in _programs():  # python3.12 is python, clang-17 is clang
        one.name, judge = bare, _programs()[bare]
    if "/" not in word and one.args in _ABOUT and one.name not in _TAKES_WORDS:
        one.note(Class.READ if judge else Class.CODE)
        return
    if _MINES.fullmatch(one.name) or "stratum+" in "".join(one.args):
        one.ask(Class.CODE, "mines coins")
    if "/" in word and _of_the_project(one, word) and judge is None:
        return
    if judge is None:
        if like := _programs().get(one.name.lower()):
            like(Run(scene, [one.name.lower(), *one.args], one.folders, one.stdin))  # some systems take RM for rm
        elif _like_a_tool(one):
            return
        one.ask(Class.CODE, f"runs {shown(one.name)}, which the guard does not know")
        return
    one.looked.clear()  # by ``mentions``
    judge(one)
    if not one.noted:
        scene.note(Class.CODE)  # nobody said what it does, so it may do anything
    from hermes_tool_guard.strays import strays

    strays(one)


def _like_a_tool(one: Run) -> bool:
    from hermes_tool_guard.programs.trade import like_a_tool

    return like_a_tool(one)


def _unclear(one: Run, word: str) -> bool:
    """Whether it cannot be said which program runs; asks if so."""
    if word in _RESERVED:
        one.ask(Class.UNCLEAR, "is not shell that the guard can read")
        one.inner(one.args)
        return True
    if word and not _ODD.search(word) and not (isinstance(word, Glob) and word != "["):
        return False
    one.ask(Class.UNCLEAR, "decides at run time which program runs")
    if not emptied(word):  # then it may be nothing at all, and the next word is the program
        one.inner(one.args)
    return True


def _of_the_project(one: Run, word: str) -> bool:
    """Whether a program named by a path is not one of the system's; judges it as a script then."""
    folder = word.rpartition("/")[0]
    if _STANDARD.fullmatch(folder):
        return False
    if _ENVIRONMENT.search(folder) and one.inside(folder):
        one.note(Class.PROJECT)
    else:
        one.script(word)
    return True
