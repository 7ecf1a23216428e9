"""Commands of Windows and PowerShell. The guard does not read their languages; it knows what they delete."""

import base64
import binascii
import re
from itertools import pairwise

from hermes_tool_guard.judgement import OPAQUE, Class
from hermes_tool_guard.run import Program, Run, each

__all__ = ["PROGRAMS", "VITAL"]

# A drive, or what everything on it depends on; the shell has taken single backslashes away.
VITAL = re.compile(
    r"(?i)(?:[a-z]:|\\\\|%system(?:root|drive)%|\$?env:system\w+)[\\/]*(?:\*(?:\.\*)?)?[\\/]*"
    r"|(?:[a-z]:|%systemdrive%|\$?env:systemdrive)[\\/]*"
    r"(?:windows|users|program ?files.*|programdata|boot|efi|recovery)\b.*"
    r"|(?:%(?:userprofile|homepath|homedrive|windir)%|(?:\$?env|\x00)?:?(?:userprofile|home|windir|systemroot)|~)"
    r"[\\/]*\*?"
    r"|(?:hklm|hkcr|hku|hkcu|hkey_\w+):?(?:[\\/]*(?:software|system|sam|security))?[\\/]*"
)


def _deletes(run: Run) -> None:
    """del, rd, Remove-Item and the like."""
    for word in " ".join(run.args).split():
        bare = word.strip("'\"")
        if VITAL.fullmatch(bare):
            run.deny(Class.DELETE, f"deletes {bare[:60]}, a place that everything else depends on")
        if re.match(r"[/~]", bare) and not re.fullmatch(r"/[a-zA-Z](?::\w+)?", bare):
            run.delete(bare)
    run.ask(Class.DELETE, f"deletes with {run.name}")


def _disks(run: Run) -> None:
    run.deny(Class.KERNEL, f"destroys a disk or what brings it back, with {run.name}")


def _format(run: Run) -> None:
    if any(re.match(r"[a-zA-Z]:", w) or OPAQUE in w for w in run.args):
        _disks(run)
    run.ask(Class.KERNEL, "formats with format")


def _power(run: Run) -> None:
    run.deny(Class.SERVICES, f"stops or restarts the machine with {run.name}")


def _registry(run: Run) -> None:
    if run.args[:1] and run.args[0].lower() == "query":
        run.note(Class.READ)
    elif run.args[:1] and run.args[0].lower() == "delete":
        _deletes(run)
    run.ask(Class.PERSISTENCE, "changes the registry")


def _cmd(run: Run) -> None:
    words = list(run.args)
    while words and re.match(r"/", words[0]):
        words.pop(0)
    if words:
        run.code(" ".join(words).replace("\\", "\\\\"))
    run.ask(Class.CODE, "runs commands of Windows")


def _powershell(run: Run) -> None:
    words = list(run.args)
    for option, value in pairwise([*words, ""]):
        lowered = option.lower()
        if lowered.startswith("-e") and "-encodedcommand".startswith(lowered):
            try:
                run.code(base64.b64decode(value).decode("utf-16-le").replace("\\", "\\\\"))
            except (binascii.Error, ValueError):
                run.ask(Class.UNCLEAR, "runs PowerShell that is encoded")
        elif lowered.startswith("-c") and "-command".startswith(lowered):
            run.code(" ".join(words[words.index(option) + 1 :]).replace("\\", "\\\\"))
    if run.stdin:
        run.code(run.stdin.replace("\\", "\\\\"))
    if words and words[0][:1] != "-":
        run.code(" ".join(words).replace("\\", "\\\\"))
    run.ask(Class.CODE, f"runs {run.name} code")


def _asks(run: Run) -> None:
    run.ask(Class.CODE, f"runs {run.name}, a command of Windows")


PROGRAMS: dict[str, Program] = {
    **each(_deletes, "del erase rd deltree remove-item ri clear-content clear-item remove-itemproperty"),
    **each(
        _disks,
        "format-volume clear-disk initialize-disk remove-partition diskpart bcdedit vssadmin wbadmin cipher",
    ),
    **each(_power, "stop-computer restart-computer"),
    **each(_cmd, "cmd cmd.exe"),
    **each(_powershell, "pwsh powershell powershell.exe pwsh.exe"),
    **each(
        _asks,
        "invoke-expression invoke-webrequest iwr invoke-restmethod irm start-process set-executionpolicy"
        " get-content set-content move-item copy-item takeown icacls schtasks sc.exe net wmic certutil bitsadmin"
        " mshta rundll32 regsvr32 stop-process taskkill new-service set-service set-itemproperty",
    ),
    "format": _format,
    "format.com": _format,
    "reg": _registry,
    "reg.exe": _registry,
}
