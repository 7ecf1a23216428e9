"""Options of tools that are free: the allow list ``options.txt``, and what compilers and builds are told by pattern."""

import re
from functools import cache
from pathlib import Path

from hermes_tool_guard.run import names

__all__ = ["compiles", "is_plain", "is_plain_for_any", "plain_property"]

# One or a few letters; those left out are what some tool takes code, a program or a file to load by.
_LETTERS = re.compile(r"-(?:[abdf-oqs-wyzA-WYZ]{1,3}|[jPOvq]\d+)")
_LETTERS_FOR_ANY = re.compile(r"-(?:[ahinqtvVwy]{1,3}|j\d+)")
_FLAG = re.compile(
    r"-(?:O\w*|g[\w-]*|W(?![lap],)[\w=+-]*|f(?!plugin|pass-plugin|use-ld|opt-info|profile-use|wrapper)[\w-]+(?:=[\w.,:+-]*)?"
    r"|fuse-ld=(?:lld|gold|bfd|mold)|m[\w.-]+(?:=[\w.,+-]+)?|std=?[\w+:]*|[DU][\w.]*(?:=.*)?|[ILl][\w./+-]*|[cSEovwsQ]|M[DMFTGPQ]*"
    r"|pthread|pie|no-pie|shared|static[\w-]*|rdynamic|pedantic[\w-]*|ansi|pipe|arch|isystem|idirafter|iquote|include"
    r"|nostd\w+|nodefaultlibs|print-[\w-]+|dump\w+|V|h|help|version|target|soname|rpath|T|z|e|r|n"
    r"|Wl,-(?:rpath|z|soname|-?no-undefined|-?as-needed|-?no-as-needed|-?gc-sections|s|Bstatic|Bdynamic|-?start-group"
    r"|-?end-group|Map|-?export-dynamic|-?whole-archive|-?no-whole-archive)(?:[,=][\w./$+-]+)*)"
    r"|--(?:target|sysroot|std|help|version|verbose|crate-type|crate-name|edition|emit|cfg|test|explain|print|extern|out-dir|error-format"
    r"|color|cap-lints|gpu-architecture|ptxas-options|expt-[\w-]+|static|shared|make|release|warnings)(?:=.*)?"
)
_CODEGEN = re.compile(
    r"(?:opt-level|debuginfo|target-cpu|target-feature|lto|panic|codegen-units|incremental|overflow-checks|strip"
    r"|debug-assertions|embed-bitcode|relocation-model|prefer-dynamic|instrument-coverage)(?:=[\w.,+/-]*)?"
)
_LINTS = frozenset({"-A", "-D", "-F", "-W", "--allow", "--deny", "--forbid", "--warn"})  # of rustc
_VALUE = re.compile(r"(?i)on|off|true|false|yes|no|y|n|[\d.]+|[a-z][\w.]{0,40}|")
_STEERS = re.compile(
    r"(?i)compiler|launcher|program|command|linker|toolchain|exec|tool|rule|interpreter|java\.?home|jvm|agent|class\.?path"
    r"|script|plugin|wrapper|shell|runner|editor|python|perl|ext\."
)
_KNOWN = re.compile(r"CMAKE_(?:C|CXX)_COMPILER|CMAKE_\w+_COMPILER_LAUNCHER")
_COMPILERS = re.compile(r"(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ccache|sccache)(?:-\d+)?")


@cache
def _plain() -> frozenset[str]:
    lines = Path(__file__).with_name("options.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if line[:1] != "#" for word in line.split())


def is_plain(word: str) -> bool:
    """Whether an option of a tool that is known is on the list, is a few plain letters, or switches something off."""
    return bool(_LETTERS.fullmatch(word)) or _is_listed(word)


def is_plain_for_any(word: str) -> bool:
    """Whether an option is plain whatever program it is given to: letters mean much to some."""
    return bool(_LETTERS_FOR_ANY.fullmatch(word)) or _is_listed(word)


def _is_listed(word: str) -> bool:
    name = word.partition("=")[0]
    if word == "--" or name in _plain():
        return True
    return bool(re.fullmatch(r"--(?:no|disable|without|skip|hide|ignore|exclude)-[\w-]+|--(?:no|skip)[A-Z]\w*", name))


def compiles(word: str, before: str = "") -> bool:
    """Whether an option of a compiler says how code is made, and not by whom. ``before`` is the word it follows."""
    if before == "-C":
        return bool(_CODEGEN.fullmatch(word))
    if word[:2] == "-C":
        return word == "-C" or bool(_CODEGEN.fullmatch(word[2:]))
    return word in _LINTS or bool(_FLAG.fullmatch(word))


def plain_property(word: str) -> bool:
    """Whether ``-DNAME=VALUE`` sets something that no program is chosen by."""
    name, _, value = word[2:].partition("=")
    name = name.partition(":")[0]
    if _KNOWN.fullmatch(name):
        return bool(_COMPILERS.fullmatch(value))
    if name in names("CMAKE_C_FLAGS CMAKE_CXX_FLAGS CMAKE_EXE_LINKER_FLAGS"):
        return all(compiles(flag) for flag in value.split())
    if name in names("CMAKE_INSTALL_PREFIX CMAKE_PREFIX_PATH test it.test dest DESTDIR CMAKE_TOOLCHAIN_FILE"):
        return True
    return not _STEERS.search(name) or (
        bool(_VALUE.fullmatch(value)) and value.lower() in names("on off true false 0 1")
    )
