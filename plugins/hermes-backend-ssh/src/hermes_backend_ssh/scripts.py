"""The shell scripts that run over there. POSIX sh; no profile is read, and none is needed."""

import re
from collections.abc import Mapping, Sequence
from shlex import quote

from hermes_backend_kit.shell import TELL
from hermes_core.errors import ToolError

# One word of a command line may have 128 KiB on Linux, and the script is one word.
LONGEST = 120_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# The command's own streams are joined into stdout. stderr belongs to ssh and to the lines we write, each with the
# token in front: so nothing the command prints can be taken for ours, and a lost connection is not a status.
_RUN = """printf '%s start %s\\n' {token} "$$" >&2
cd -- {cwd} 2>/dev/null || {{ printf '%s nofolder\\n' {token} >&2; exit 1; }}
printf '%s ready\\n' {token} >&2
{before}({env}exec {argv}) 2>&1
s=$?
{after}printf '%s end %s\\n' {token} "$s" >&2
"""

# Its variables are not ours: a PATH that leads nowhere would stop what is done after it.
# Where a shell ended up goes through a file that nobody else can read or put there; it is gone before the end is told.
_BEFORE = "(umask 077; set -C; : >{file}) 2>/dev/null\n"
_AFTER = """n=$(($(wc -c <{file} 2>/dev/null || echo 0)))
[ "$n" -eq 0 ] || [ "$n" -gt {most} ] || {{ printf '%s state %s\\n' {token} "$n"; cat {file}; }} >&2
rm -f {file}
"""

# Everything a command started: by session, group, descent, and by the mark in its environment where /proc shows it.
KILL = r"""
members() {
  marked=$(grep -lsazx "HERMES_RUN=$1" /proc/[0-9]*/environ 2>/dev/null | tr '\n' ' ')
  { ps -A -o pid= -o ppid= -o pgid= -o sess= -o stat= 2>/dev/null; } | awk -v leader="$2" -v marked="$marked" '
    BEGIN { n = split(marked, path, " "); for (i = 1; i <= n; i++) { split(path[i], part, "/"); found[part[3]] = 1 } }
    $5 ~ /^Z/ { delete found[$1]; next }
    { parent[$1] = $2; if (leader > 0 && ($1 == leader || $3 == leader || $4 == leader)) found[$1] = 1 }
    END {
      do {
        more = 0
        for (p in parent) if (!(p in found) && (parent[p] in found)) { found[p] = 1; more = 1 }
      } while (more)
      for (p in found) if (p > 1) print p
    }'
}
pids=$(members "$1" "$2"); [ -z "$pids" ] || kill -TERM $pids 2>/dev/null
tries=0
while pids=$(members "$1" "$2"); [ -n "$pids" ] && [ $tries -lt 20 ]; do tries=$((tries + 1)); sleep 0.1; done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
[ -z "$3" ] || rm -f -- "$3"
exit 0
"""

PROBE = 'cd -- "${1:-$HOME}" 2>/dev/null || exit 44; pwd'
BASH = f"command -v bash && exec bash -c '{TELL}'"  # where it is, and what a command there begins with
MOST = 500_000  # bytes of state


def state_file(token: str) -> str:
    """Where a command over there leaves the state of its shell, for as long as it runs."""
    return f"/tmp/.hermes-{token}"  # noqa: S108 - made anew, by us alone


def wrapped(argv: Sequence[str], cwd: str, env: Mapping[str, str], token: str, *, state: bool = False) -> str:
    """What the login shell over there is given. Raises ToolError when it is too long or cannot be said.

    With ``state`` the command writes that of its shell into ``state_file``, and it is handed on.
    """
    wrong = [name for name in env if not _NAME.fullmatch(name)]
    if wrong or not argv:
        raise ToolError(f"Cannot run this: {f'{wrong[0]!r} is no name for a variable' if wrong else 'no command'}.")
    script = _RUN.format(
        token=token,
        cwd=quote(cwd),
        env=f"export {words}; " if (words := " ".join(f"{n}={quote(v)}" for n, v in env.items())) else "",
        argv=" ".join(map(quote, argv)),
        before=_BEFORE.format(file=state_file(token)) if state else "",
        after=_AFTER.format(file=state_file(token), token=token, most=MOST) if state else "",
    )
    text = f"exec sh -c {quote(script)}"
    if "\0" in text or len(text.encode()) > LONGEST:
        raise ToolError("Cannot run this: the command line is too long; write it to a file first, or use stdin.")
    return text
