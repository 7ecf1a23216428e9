"""Places outside of the folder that a command names, and that nobody who judged its program has looked at.

A judge knows its program's operands and some of its options. A program has more options than anybody knows, and each
may write a file, or load one: glued to a letter (``-o/x``), behind a sign (``--log-file=/x``), as a word of its own.
"""

import os
import re
from collections.abc import Iterator

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.run import Run, beginnings, names
from hermes_tool_guard.scene import shown

__all__ = ["strays"]

_MAKES = {Class.WRITE, Class.DELETE, Class.PROJECT, Class.CODE, Class.INSTALL}
_RUNS = {Class.PROJECT, Class.CODE}
_OUT = {Zone.VITAL, Zone.CREDENTIAL, Zone.PERSISTENT, Zone.HARDWARE, Zone.OUTSIDE}
# What they are given is a text that has paths in it, and their judges read it; or it is judged as a program again.
_TEXTS = names(
    "echo printf git hg svn jj gh glab grep egrep fgrep rg ag ack sed gsed ssed awk gawk mawk nawk jq yq "
    "eval exec sudo doas env export test [ [[ trap find fd fdfind xargs parallel curl wget docker podman "
    "docker-compose kubectl helm http https xh ssh scp rsync-ssl redirection timeout nohup nice time watch tmux "
    "screen make gmake kill pkill logger mail touch truncate"
)
_PLACE = re.compile(r"(?<![\w.)}\]*?/$-])(?:~[\w-]*/|~$|/|\.\.(?=/|$))[^\s'\"\[\](){}|;,<>]*")
_NO_PLACE = re.compile(
    r"//|(?![/~.-]).*[\s()'\"`$;]|(?i:-*[\w=-]*[a-z][a-z0-9+.-]*:/{2,3})"
)  # a label, a text, an address
_BESIDE = names("npm pnpm yarn pip pip3 uv bun cargo go")  # install what lies beside the folder
_GLUED = re.compile(r"-[A-Za-z](?=[/~]|\.\.)")
_OUTPUT = re.compile(
    r"-[oBT]|(?i:-*\w*-?(?:out|tmp|temp|junit|log|report|dest|cov|cache|build|data|target|xml|html|dump|trace))"
)
_SYSTEM = beginnings("/usr/ /opt/ /etc/ /lib /nix/ /Library/ /System/ /Applications/ /snap/")  # a person put it there
_LOOKED_UP = re.compile(
    r"(?i)-(?:[ILB]|isystem|iquote|idirafter|F)\b.*|-[^=]*(?:prefix|path|root|include|lib|home|sdk|java|python)[^=]*(?:=.*)?"
)


def strays(one: Run) -> None:
    """Ask about a program that makes or runs something and names a place outside that was not looked at."""
    if one.asked or not one.did & _MAKES or one.name in _TEXTS:
        return
    runs, before = bool(one.did & _RUNS), ""
    for word in one.args:
        for part in _places(word):
            if part in one.looked or (part == word and part[:3] == "../" and one.name in _BESIDE):
                continue
            for path, zone in one.zones(part):
                shared = zone is Zone.TEMPORARY and runs and not _OUTPUT.match(word)
                if zone not in _OUT and not shared:
                    continue
                option = word if word[:1] == "-" else before
                if os.path.normpath(path).startswith(_SYSTEM) and _LOOKED_UP.fullmatch(option):
                    continue
                one.ask(Class.WRITE_OUTSIDE, f"gives {one.name} {shown(part)}, which is outside of the folder")
                return
        before = word


def _places(word: str) -> Iterator[str]:
    """What of a word may be a path that leads out of the folder."""
    if len(word) > 4096 or "\n" in word or any(c in word for c in UNKNOWN) or _NO_PLACE.match(word):
        return
    if word[:1] in ("/", "~") or word.startswith(".."):
        yield word
        return
    glued = _GLUED.match(word)
    yield from _PLACE.findall(word[glued.end() :] if glued else word)
