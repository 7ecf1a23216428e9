"""The shell scripts that run in the container. POSIX sh; of programs they need grep, sleep, cat, head and rm.

What we say about a command stands in its output between two record separators and a token. The control characters are
made by printf, so a command that prints all command lines of the container does not print one of our marks. All but
the first script come in a variable, which they take away again, so that such a list stays readable.
"""

__all__ = ["EVAL", "KILL", "MAIN", "RUN", "WARDEN"]

EVAL = 'eval "$HERMES_SH"'

# The main process: nobody's commands for $1 seconds, looked at every $2, and the container ends itself. So one that
# was forgotten by a Hermes that died does not stay. A command that runs counts while the Hermes it belongs to lives.
MAIN = r"""
trap 'exit 0' TERM INT
idle=0
while [ "$idle" -lt "$1" ]; do
  sleep "$2" & wait $!
  idle=$((idle + $2))
  if [ -e /run/hermes.used ]; then rm -f /run/hermes.used; idle=0
  elif grep -qszF HERMES_WARDEN= /proc/[0-9]*/environ && grep -qszF HERMES_RUN= /proc/[0-9]*/environ; then idle=0; fi
done
"""

# Everything a command started: by the marker in its environment, by descent, by session. An init that adopts orphans
# (then the command's shell has a parent) is kept until the others are gone, and so is that shell, stopped, because the
# init ends with it: what hides behind setsid and an empty environment is still found below it. Without such an init,
# an orphan that is younger than the command and has nobody's marker is taken for one of its.
_END = r"""
since=
stray() {
  [ "$since" ] && [ "$2" = 1 ] && [ "$3" != s1 ] && [ "$3" != 1 ] && [ "$4" -ge "$since" ] || return 1
  ! grep -qszF HERMES_ "/proc/$1/environ"
}
scan() {
  set -- " " " " "$1"
  for e in $(grep -lszF -- "$3" /proc/[0-9]*/environ); do e=${e#/proc/}; set -- "$1${e%/environ} " "$2" "$3"; done
  all=$1 sessions=$2 more=1
  while [ "$more" ]; do
    more= live= roots= shells=
    for stat in /proc/[0-9]*/stat; do
      line=
      while read -r part || [ "$part" ]; do line="$line $part"; done 2>/dev/null <"$stat"
      [ "$line" ] || continue
      pid=${stat#/proc/}; pid=${pid%/stat}
      set -- ${line##*) }
      [ "$4" != 0 ] || set -- "$1" "$2" "$3" none
      [ "$1" != Z ] && [ "$1" != X ] && [ "$pid" != $$ ] && [ "$pid" != 1 ] || continue
      known=
      case $all in *" $pid "*) known=1 ;; esac
      [ "$known$adopts" ] || ! stray "$pid" "$2" "$4" "${20}" || { known=1 more=1; all="$all$pid "; }
      case "$all$sessions" in *" $2 "* | *" s$4 "*) [ "$known" ] || { known=1 more=1; all="$all$pid "; } ;; esac
      [ "$known" ] || continue
      case "$sessions$4" in *" s$4 "* | *none) ;; *) more=1; sessions="${sessions}s$4 " ;; esac
      if [ "$2" = 0 ]; then
        roots="$roots$pid "
        [ "$since" ] && [ "$since" -le "${20}" ] || { since=${20} more=1; }
      else
        live="$live$pid:$2 "
      fi
    done
  done
  others=
  for one in $live; do
    if [ "$adopts" ]; then case " $roots" in *" ${one#*:} "*) shells="$shells${one%:*} "; continue ;; esac; fi
    others="$others${one%:*} "
  done
}
end() {
  scan "$1"
  [ "$adopts" ] || shells=$roots
  [ -z "$shells" ] || kill -STOP $shells 2>/dev/null
  [ -z "$others" ] || kill -TERM $others 2>/dev/null
  tries=0
  while scan "$1"; [ "$others" ] && [ $tries -lt "$2" ]; do tries=$((tries + 1)); sleep 0.1 || sleep 1; done
  tries=0
  while [ "$others" ] && [ $tries -lt 20 ]; do
    tries=$((tries + 1))
    kill -STOP $others 2>/dev/null
    scan "$1"
    [ -z "$others" ] || kill -KILL $others 2>/dev/null
    sleep 0.02 || :
    scan "$1"
  done
  tries=0
  while [ "$others$shells$roots" ] && [ $tries -lt 20 ]; do
    tries=$((tries + 1))
    kill -KILL $others $shells $roots 2>/dev/null
    sleep 0.02 || :
    scan "$1"
  done
}
"""

# $1 token, $2 marker, $3 tenths of a second to be polite for, $4 the init that adopts, if there is one. Prints what
# could not be ended.
KILL = (
    _END
    + r"""
adopts=$4
printf '\036%s\036start\n' "$1"
end "$2" "$3" 2>/dev/null
echo $others $shells $roots
printf '\036%s\036end 0 0\n\036%s\036eof\n' "$1" "$1"
"""
)

# How often the memory limit ended a process here.
_COUNT = r"""
killed=0
for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [ ! -r $counter ] || while read -r name value; do [ "$name" != oom_kill ] || killed=$value; done <$counter
done
"""

# $1 token, $2 marker. Tells what is here, then waits for the end of its input: that is when Hermes lets go of the
# place or dies, however it dies, and what it started is ended.
WARDEN = (
    _END
    + _COUNT
    + r"""
adopts=
if [ -x /sbin/docker-init ] && /sbin/docker-init --version 2>/dev/null | grep -q tini; then adopts=/sbin/docker-init; fi
printf '\036%s\036start\n' "$1"
command -v bash || echo
echo "$adopts"
(cd && pwd) 2>/dev/null || echo /
unset HERMES_SH
cat /proc/self/environ
printf '\036%s\036end 0 %s\n\036%s\036eof\n' "$1" "$killed" "$1"
cat >/dev/null
end "$2" 5 2>/dev/null
"""
)

# $1 token, $2 folder, $3 file for the shell's state or nothing, $4 bytes of input ("-": it stays open), then the
# command. Its two streams are one; the other one is for what our shell complains about. A PATH that the command
# is to have comes as HERMES_PATH, so that our own programs are found whatever is in it.
RUN = (
    r"""
unset HERMES_SH
token=$1 folder=$2 state=$3 input=$4
shift 4
path() { [ -z "${HERMES_PATH+given}" ] || PATH=$HERMES_PATH; unset HERMES_PATH; }
printf '\036%s\036start\n' "$token"
true >/run/hermes.used
cd -- "$folder" || { printf '\036%s\036nofolder\n' "$token"; exit 0; }
case $input in
  -) (path; exec "$@") 2>&1 ;;
  0) (path; exec "$@") 2>&1 </dev/null ;;
  *) head -c "$input" | (path; exec "$@") 2>&1 ;;
esac
status=$?
"""
    + _COUNT
    + r"""
printf '\036%s\036end %s %s\n' "$token" "$status" "$killed"
[ -z "$state" ] || { cat "$state" 2>/dev/null; rm -f "$state"; }
printf '\036%s\036eof\n' "$token"
"""
)
