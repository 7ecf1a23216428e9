"""Command lines inside the arguments of a program: ``cmake -E rm …``, ``rake -p 'system("rm …")'``."""

import re
from collections.abc import Iterator

from hermes_tool_guard.judgement import UNKNOWN
from hermes_tool_guard.programs.foreign import HOME_IN_CODE, with_home
from hermes_tool_guard.run import Run, names
from hermes_tool_guard.scene import Found

__all__ = ["carried"]

# Programs that do harm with what stands behind them; any program may be given such a line to run.
_HARMFUL = names(
    "rm rmdir shred unlink srm wipe truncate dd chmod chown chgrp mv cp ln tee sh bash dash zsh ksh env sudo doas "
    "xargs nohup timeout setsid busybox python python3 perl ruby curl wget nc ncat socat ssh scp kill killall pkill "
    "mkfs mkfs.ext4 wipefs blkdiscard fdisk sfdisk parted mkswap crontab systemctl launchctl"
)
_INSIDE = re.compile(
    r"\b(?:rm|shred|dd|mkfs\w*|chmod|chown|mv|find|wipefs|blkdiscard|truncate|tee|kill|reboot|shutdown|poweroff)\b"
    r"|\b(?:delete-directory|rmtree|rm_rf|rm_r|rimraf|remove_dir_all|rmSync|removeSync)\b"
)
_TAKES_ALL = re.compile(r"^(?:delete-directory|rmtree|rm_rf|rm_r|rimraf|remove_dir_all|rmSync|removeSync)\b")
_HARM = re.compile(rf"{_INSIDE.pattern}|/(?:{'|'.join(map(re.escape, sorted(_HARMFUL)))})(?: |$)")
_QUOTED = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|`([^`]*)`")
_BRACKETED = re.compile(r"[({\[]([^(){}\[\]]*)[)}\]]")
_PUNCTUATION = re.compile(r"[\s\"',()\[\]{}]+")
_HOMES = re.compile(HOME_IN_CODE)
_OBEYS = names("ed ex vi vim nvim gdb sqlite3 psql mysql mariadb")  # what they read may be commands for a shell
_MOST = 20  # texts of one word


def carried(run: Run, *, asks: bool = False) -> None:
    """Deny what no program may carry out. With ``asks`` what needs a yes by itself needs it here too."""
    if run.stdin and run.name in _OBEYS and not any(c in run.stdin for c in UNKNOWN):
        for line in run.stdin.splitlines()[:_MOST]:
            for text in _tails(run, line):
                _judged(run, text, asks=False)
    if _HARMFUL.isdisjoint(run.args) and not _HARM.search(" ".join(run.args)):
        return
    for at, word in enumerate(run.args):
        if word.rpartition("/")[2] in _HARMFUL and at + 1 < len(run.args):
            _judged(run, run.args[at:], asks=asks)
        if len(word) < 4096 and _INSIDE.search(word) and not word.isalnum():
            for text in dict.fromkeys((word.partition("=")[2] or word, *_texts(word), *_tails(run, word))):
                _judged(run, text, asks=False)


def _texts(word: str) -> list[str]:
    texts = [text for found in _QUOTED.findall(word) for text in found] + _BRACKETED.findall(word)
    return [text for text in texts if _INSIDE.search(text)][:_MOST]


def _tails(run: Run, word: str) -> Iterator[str]:
    """What begins with a harmful word, as it stands and without the punctuation of another language."""
    word = with_home(run, word)
    for found in list(_INSIDE.finditer(word))[:_MOST]:
        tail = _TAKES_ALL.sub("rm -rf", _HOMES.sub(run.scene.places.home, word[found.start() :]))
        tail = tail.rpartition("/")[0] if run.name == "sed" and re.search(r"/[gpiI]*e[gpiI]*$", tail) else tail
        yield from (tail, _PUNCTUATION.sub(" ", tail).strip())


def _judged(run: Run, what: "list[str] | str", *, asks: bool) -> None:
    scene = run.scene
    before, scene.found = scene.found, Found()
    noted, folders = run.noted, (run.ok, run.failed)
    try:
        run.code(what) if isinstance(what, str) else run.inner(what)
    finally:
        found, scene.found = scene.found, before
        run.noted, (run.ok, run.failed) = noted, folders
        if found.outcome == "deny" or (asks and found.outcome == "ask"):
            before.add(found)
