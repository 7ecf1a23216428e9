"""Tools of the trade, and programs whose name or first word says that they are one: they work on the folder."""

import re
from itertools import pairwise

from hermes_tool_guard.judgement import DERIVED, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.allowed import listed
from hermes_tool_guard.programs.options import is_plain_for_any
from hermes_tool_guard.programs.tools import OUTPUTS, files_given, stays, tool
from hermes_tool_guard.run import Program, Run, names

__all__ = ["PROGRAMS", "like_a_tool"]

_ODD_NAME = re.compile(
    r"(?:speed|disk|mem|net|pen|stress|fs|hd|boot|usb|wifi|hw|bios|smart|ssh|ssl|vpn|dns|port|priv|sys|kernel|root)"
    r"[-_]?(?:tests?|check(?:er)?|bench(?:mark)?|stats?|scan|gen|build)"
)
_NAME = re.compile(
    r"(?:[\w.+]+[-_.])*(?:lint(?:er|ing)?|fmt|format(?:ter)?|check(?:er|s)?|tests?|tester|specs?|typecheck|codegen|bench(?:mark)?"
    r"|docs?|gen|compiler?|prettier|validator?|validate|cov(?:erage)?|minify|analyzer|profiler|bundler?|transpiler?)"
    r"|[a-z0-9]+(?:lint|fmt|doc|docs|cov|unit|format)|[a-z]{2,}test|test[-_]?\w*"
)
_VERBS = names(
    "build test tests check lint fmt format validate verify compile typecheck type-check analyze analyse codegen docs "
    "doc bench coverage spec version help syntax-check dry-run"
)
_CROSS = re.compile(
    r"(?:[a-z0-9_]+-){1,4}((?:gcc|g\+\+|cc|c\+\+|cpp|ld|as|ar|nm|objdump|objcopy|ranlib|readelf|size|strip|strings|addr2line"
    r"|c\+\+filt|gfortran|clang|clang\+\+|gcov|gprof|pkg-config))(?:-[\d.]+)?"
)
_FAR = names("packer eas expo circleci travis serverless sls amplify sam cdk cdktf chalice nomad waypoint act dagger")


def like_a_tool(run: Run) -> bool:
    """Judge a program that nobody knows; False when nothing says that it is a tool for the project's code."""
    if cross := _CROSS.fullmatch(run.name):
        from hermes_tool_guard.programs import PROGRAMS

        if judge := PROGRAMS.get(cross[1]):
            run.name = cross[1]
            judge(run)
            return True
    first = next((a for a in run.args if a[:1] != "-"), "")
    by_name = _NAME.fullmatch(run.name) and not _ODD_NAME.fullmatch(run.name)
    by_verb = first in _VERBS and run.args[:1] == [first]
    if run.name in _FAR or not re.fullmatch(r"[a-z][\w.+-]*", run.name) or not (by_name or by_verb):
        return False
    if not _plain(run):
        return False
    files_given(run)
    if stays(run):
        run.note(Class.PROJECT)
    return True


def _plain(run: Run) -> bool:
    """Whether every option is on the list, and nothing is taken from where everybody may write."""
    for before, word in pairwise(["", *run.args]):
        if DERIVED in word or (word[:1] == "-" and word not in OUTPUTS and not is_plain_for_any(word)):
            return False
        given = word.partition("=")[2] if word[:1] == "-" else word
        named = before not in OUTPUTS and given[:1] in ("/", ".", "~")
        if named and any(zone is Zone.TEMPORARY for _, zone in run._zones(given)):
            return False
    return True


PROGRAMS: dict[str, Program] = dict.fromkeys(listed("tools"), tool)
