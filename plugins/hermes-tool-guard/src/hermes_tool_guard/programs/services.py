"""Services and their managers."""

import re

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.run import Program, Run, each, names

_LOOKS = names(
    "status show is-active is-enabled is-failed is-system-running list-units list-unit-files "
    "list-timers list-sockets list-dependencies list-jobs list-machines list-paths list-automounts "
    "cat help get-default show-environment whoami list list-sessions user-status session-status "
    "seat-status list-users show-user show-session avail tail print blame dump"
)


_BUSES = names("loginctl dbus-send busctl gdbus qdbus initctl rc-service service launchctl")
# Programs whose first word says what they do; to the others it is the name of a service.
_VERB_FIRST = names(
    "launchctl supervisorctl initctl sv loginctl pm2 forever monit nssm busctl gsettings dconf rc-update rc-status"
)
_ENDS = re.compile(r"(?i)(?:^|\.)(?:power-?off|reboot|halt|kexec|shutdown)(?:$|WithFlags$)")


def _systemctl(run: Run) -> None:
    words = [w for w in run.args if w[:1] != "-"]
    options = run.options(
        {"-t", "-p", "-n", "-o", "-H", "-M", "-s", "--type", "--state", "--property", "--lines", "--output", "--host"}
    )
    if options.has("-H", "--host"):
        run.ask(Class.SEND, "works on another machine")
    words = options.rest
    if not words or words[0] in _LOOKS:
        run.note(Class.READ)
        return
    if words[0] in names(
        "poweroff reboot halt kexec suspend hibernate soft-reboot rescue emergency isolate exit start default"
    ):
        ends = words[0] not in ("suspend", "hibernate", "isolate", "start", "default", "exit")
        if ends or any(
            re.match(r"(?:rescue|emergency|poweroff|reboot|halt|shutdown|exit|kexec)\b", w) for w in words[1:]
        ):
            run.deny(Class.SERVICES, f"stops or restarts the machine with systemctl {words[0]}")
        if words[0] in ("start", "default"):
            run.ask(Class.SERVICES, f"changes services with systemctl {words[0]}")
        run.ask(Class.SERVICES, f"stops the machine, or most of it, with systemctl {words[0]}")
    elif words[0] in names("enable link edit reenable preset set-default add-wants set-environment import-environment"):
        run.ask(Class.PERSISTENCE, f"changes what starts by itself with systemctl {words[0]}")
    else:
        run.ask(Class.SERVICES, f"changes services with systemctl {words[0][:40]}")


def _service(run: Run) -> None:
    if run.name in _BUSES and any(_ENDS.search(a) for a in run.args):
        run.deny(Class.SERVICES, f"stops or restarts the machine with {run.name}")
    words = run.args
    if run.name in _VERB_FIRST:
        looks = words[:1] and words[0] in _LOOKS and not any(c in a for a in words for c in UNKNOWN)
    else:
        looks = words == ["--status-all"] or words[1:] == ["status"]
    if looks:
        run.note(Class.READ)
        return
    run.ask(Class.SERVICES, f"changes services with {run.name}")


PROGRAMS: dict[str, Program] = {
    "systemctl": _systemctl,
    **each(
        _service,
        "service rc-service rc-update rc-status launchctl supervisorctl initctl chkconfig update-rc.d sv "
        "s6-svc loginctl pm2 forever monit nssm start-stop-daemon busctl dbus-send gdbus gsettings dconf",
    ),
}
