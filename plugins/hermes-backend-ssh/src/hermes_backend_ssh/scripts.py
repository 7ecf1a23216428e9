"""The shell scripts that run over there. POSIX sh; no profile is read, and none is needed."""

import re
from collections.abc import Mapping, Sequence
from shlex import quote

from hermes_core.errors import ToolError

# One word of a command line may have 128 KiB on Linux, and the script is one word.
LONGEST = 120_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# The command's own streams are joined into stdout. stderr belongs to ssh and to the three lines we write, each with
# the token in front: so nothing the command prints can be taken for ours, and a lost connection is not a status.
_RUN = """printf '%s start %s\\n' {token} "$$" >&2
cd -- {cwd} 2>/dev/null || {{ printf '%s nofolder\\n' {token} >&2; exit 1; }}
export HERMES_RUN={token} {env}
(exec {argv}) 2>&1
printf '%s end %s\\n' {token} "$?" >&2
"""

# Everything a command started: by session, group, descent, and by the marker in its environment where /proc shows it.
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
exit 0
"""

PROBE = 'cd -- "${1:-$HOME}" 2>/dev/null || exit 44; pwd'


def wrapped(argv: Sequence[str], cwd: str, env: Mapping[str, str], token: str) -> str:
    """What the login shell over there is given. Raises ToolError when it is too long or cannot be said."""
    wrong = [name for name in env if not _NAME.fullmatch(name)]
    if wrong or not argv:
        raise ToolError(f"Cannot run this: {f'{wrong[0]!r} is no name for a variable' if wrong else 'no command'}.")
    script = _RUN.format(
        token=token,
        cwd=quote(cwd),
        env=" ".join(f"{name}={quote(value)}" for name, value in env.items()),
        argv=" ".join(map(quote, argv)),
    )
    text = f"exec sh -c {quote(script)}"
    if "\0" in text or len(text.encode()) > LONGEST:
        raise ToolError("Cannot run this: the command line is too long; write it to a file first, or use stdin.")
    return text
