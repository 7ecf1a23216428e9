"""Whoever died does not run, buried or not."""

import os
import signal
import subprocess
import sys

from hermes_atomic.processes import is_running


def test_a_running_process_runs() -> None:
    assert is_running(os.getpid())


def test_a_process_that_was_killed_and_not_yet_buried_does_not_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(child.pid)
    child.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it is dead, and still in the table
    assert not is_running(child.pid)
    child.wait()
    assert not is_running(child.pid)
