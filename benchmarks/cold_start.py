"""Milliseconds and modules per command; informational, for finding what made a start slow."""

import os
import subprocess
import sys
import tempfile
import time

COUNT = "import sys; sys.argv = ['hermes', *{words!r}]\nimport os; os._exit = sys.exit\n"
COUNT += "from hermes_core.__main__ import main\ntry:\n main()\nexcept SystemExit: pass\n"
COUNT += "print(len(sys.modules), file=sys.stderr)"

for words in (
    ["--version"],
    ["--help"],
    ["plugins", "list"],
    ["config", "show"],
    ["sessions", "list"],
    ["-z", "hello"],
):
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "HERMES_HOME": home}
        command = [sys.executable, "-c", COUNT.format(words=words)]
        subprocess.run(command, env=env, capture_output=True, check=False)
        began = time.perf_counter()
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        modules = done.stderr.split()[-1]
        print(f"{(time.perf_counter() - began) * 1000:7.0f} ms  {modules:>5} modules  hermes {' '.join(words)}")
