"""Whole-process timings in pairs: A B A B …, so that a machine whose speed drifts does not favour one."""

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Run(NamedTuple):
    """One finished process: wall and CPU seconds, peak memory in MB."""

    wall: float
    cpu: float
    peak: float


class Paired(NamedTuple):
    """Medians of paired runs, and the ratio of wall times pair by pair."""

    ours: Run
    baseline: Run
    ratio: float


def run(command: Sequence[str], env: Mapping[str, str]) -> Run:
    """Run a command to its end, its output thrown away. Raises RuntimeError when it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(command, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} exited {process.returncode}: {said.decode(errors='replace')[-500:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def paired(ours: Sequence[str], baseline: Sequence[str], env: Mapping[str, str], *, rounds: int = 11) -> Paired:
    """Medians of ``rounds`` paired runs, after one of each that is not counted."""
    run(ours, env), run(baseline, env)
    pairs = [(run(ours, env), run(baseline, env)) for _ in range(rounds)]
    ratio = statistics.median(a.wall / b.wall for a, b in pairs)
    return Paired(_median([a for a, _ in pairs]), _median([b for _, b in pairs]), ratio)


def _median(runs: Sequence[Run]) -> Run:
    return Run(*(statistics.median(column) for column in zip(*runs, strict=True)))
