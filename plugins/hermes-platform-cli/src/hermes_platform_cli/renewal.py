"""Installs another version of everything, and goes back by itself when what answered before does not answer after.

It runs as a program of its own, from a copy outside of what it replaces, and needs nothing but Python: the version that
it puts in may be broken. Beside the copy lie ``plan.json``, which says what to do, and what was installed before:

    python -I .../renewal.py          does it
    python -I .../renewal.py back     puts back what was there, also after this was cut off
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Renewal", "main"]

_PATIENCE = 120.0  # seconds that one question may take
_STARTING = 30.0  # seconds that a service has to be there again


class Failed(Exception):
    """It cannot go on; the text says why."""


class Renewal:
    """One change of what is installed, by the plan in a folder."""

    def __init__(self, folder: Path) -> None:
        """Read the plan. Raises OSError and ValueError."""
        self._folder = folder
        self._plan: dict[str, Any] = json.loads((folder / "plan.json").read_text("utf-8"))
        self._python: str = self._plan["python"]

    def run(self) -> int:
        """Do it; 0 when the new version answers, 1 when the old one is back, 2 when nothing was begun."""
        before = self._answers()
        running = self._running()
        try:
            copy = self._copy_home()
            self._keep()
        except (Failed, OSError) as error:
            say(f"{error} Nothing was changed.")
            return 2
        say(f"If this is cut off: {self._python} -I {self._folder / 'renewal.py'} back")
        try:
            self._stop(running)
            self._install()
            self._compare(before)
            self._start(running)
        except (Failed, OSError, KeyboardInterrupt) as error:
            say(f"The new version does not do: {str(error) or 'it was interrupted.'}")
            self._stop(self._running())
            self.back()
            self._mend_home(before, copy)
            self._start(running, quiet=True)
            say("What was there before is back, and runs." if self._lost(before) == [] else "Look at: doctor")
            return 1
        say(f"{self._plan['name']} is {self._version()} now. To go back: {self._plan['name']} update --back")
        return 0

    def back(self) -> None:
        """Put back what was installed before: by renames, each done only where it was not done yet. Raises OSError."""
        if commit := self._plan["commit"]:
            self._call(["git", "-C", self._plan["clone"], "reset", "--hard", "--quiet", commit])
        for number, place in enumerate(map(Path, self._plan["places"])):
            old, failed = self._folder / f"old-{number}", self._folder / f"failed-{number}"
            if not (old / ".whole").exists():
                continue
            shutil.rmtree(failed, ignore_errors=True)
            if place.exists():
                place.rename(failed)
            old.rename(place)
            (place / ".whole").unlink(missing_ok=True)
            shutil.rmtree(failed, ignore_errors=True)

    def _keep(self) -> None:
        """Copy what is installed beside this. Raises OSError."""
        for number, place in enumerate(map(Path, self._plan["places"])):
            old = self._folder / f"old-{number}"
            shutil.rmtree(old, ignore_errors=True)
            shutil.copytree(place, old, symlinks=True)
            (old / ".whole").touch()

    def _copy_home(self) -> str:
        """Make a copy of the home, and return its name; empty where no plugin makes copies. Raises Failed."""
        done = self._hermes("-p", "default", "backup", "create", "--label", "before-update", "--json")
        if done.returncode == 2 and "backup" in done.stderr and "command" in done.stderr:
            say("No copy of the home is made: hermes-tool-backup is not installed.")
            return ""
        if done.returncode:
            raise Failed(f"No copy of the home could be made: {done.stderr.strip()}")
        name = Path(json.loads(done.stdout)["copy"]).name
        say(f"A copy of the home: {name}")
        return name

    def _install(self) -> None:
        for command in self._plan["install"]:
            if self._call(command, shown=True).returncode:
                raise Failed("it could not be installed; why stands above.")

    def _compare(self, before: Mapping[str, bool]) -> None:
        if lost := self._lost(before):
            raise Failed(f"it no longer answers: {'; '.join(lost)}")

    def _lost(self, before: Mapping[str, bool]) -> list[str]:
        now = self._answers()
        return [question for question, answered in before.items() if answered and not now.get(question)]

    def _answers(self) -> dict[str, bool]:
        """Ask the program what it must be able to do, in a home of no worth and in those of the person."""
        found = {"--version": self._hermes("--version").returncode == 0}
        with tempfile.TemporaryDirectory(prefix="hermes-update-") as home:
            for words in (["plugins", "list"], ["--provider", "offline", "-z", "Are you there?"]):
                done = self._hermes(*words, environment={self._plan["variable"]: home})
                found[" ".join(words)] = done.returncode == 0 and bool(done.stdout.strip())
        for profile in self._plan["profiles"]:
            for words in (["config", "check"], ["sessions", "list", "--json"]):
                found[f"-p {profile} {' '.join(words)}"] = self._hermes("-p", profile, *words).returncode == 0
        return found

    def _mend_home(self, before: Mapping[str, bool], copy: str) -> None:
        """Bring the home back where the new version left it so that the old one cannot read it."""
        if copy and any(question.startswith("-p ") for question in self._lost(before)):
            say(f"The home is as it was, too: {copy}")
            self._hermes("-p", "default", "backup", "restore", copy, "--yes")

    def _running(self) -> list[str]:
        """Return the profiles whose gateway runs."""
        found = []
        for profile in self._plan["profiles"]:
            done = self._hermes("-p", profile, "gateway", "status", "--json")
            try:
                if done.returncode == 0 and json.loads(done.stdout)["processes"]:
                    found.append(profile)
            except (ValueError, KeyError):
                continue
        return found

    def _unit(self, profile: str) -> str:
        """Return the person's own service of systemd for a profile, where it is active."""
        name = f"{self._plan['name']}-gateway" + ("" if profile == "default" else f"-{profile}")
        if not shutil.which("systemctl"):
            return ""
        return name if self._call(["systemctl", "--user", "is-active", "--quiet", name]).returncode == 0 else ""

    def _stop(self, profiles: Sequence[str]) -> None:
        for profile in profiles:
            unit = self._unit(profile)
            if unit:
                self._plan.setdefault("units", {})[profile] = unit
                self._call(["systemctl", "--user", "stop", unit])
            else:
                self._hermes("-p", profile, "gateway", "stop")

    def _start(self, profiles: Sequence[str], *, quiet: bool = False) -> None:
        """Start services again, and wait until they are there. Raises Failed."""
        for profile in profiles:
            if unit := self._plan.get("units", {}).get(profile):
                self._call(["systemctl", "--user", "start", unit])
            else:
                self._hermes("-p", profile, "gateway", "start")
        end = time.monotonic() + _STARTING
        while missing := [one for one in profiles if one not in self._running()]:
            if time.monotonic() > end:
                text = f"the gateway of {', '.join(missing)} did not start."
                if not quiet:
                    raise Failed(text)
                say(text)
                return
            time.sleep(0.5)
        for profile in profiles:
            say(f"The gateway of {profile} runs again.")

    def _version(self) -> str:
        return self._hermes("--version").stdout.strip().rpartition(" ")[2]

    def _hermes(self, *words: str, environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        return self._call([self._python, "-P", "-m", "hermes_core", *words], environment=environment)

    def _call(
        self, command: Sequence[str], *, shown: bool = False, environment: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        kept = {**os.environ, **(environment or {})}
        if shown:  # an installer: nobody says what it installs from but us
            kept = {name: value for name, value in kept.items() if name not in self._plan["hidden"]}
            kept |= self._plan["environment"]
        try:
            return subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr if shown else subprocess.PIPE,
                stderr=None if shown else subprocess.PIPE,
                text=True,
                env=kept,
                check=False,
                timeout=None if shown else _PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return subprocess.CompletedProcess(command, 1, "", str(error))


def say(text: str) -> None:
    """Tell the person how it stands."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main() -> int:
    """Do what the words say, by the plan beside this file."""
    renewal = Renewal(Path(__file__).resolve().parent)
    if sys.argv[1:] == ["back"]:
        renewal.back()
        say("What was installed before is back.")
        return 0
    return renewal.run()


if __name__ == "__main__":
    sys.exit(main())
