"""What importing the backend costs, and what it says of itself without a daemon."""

import subprocess
import sys


def test_importing_it_takes_no_heavy_package():
    code = (
        "import sys, hermes_backend_docker, hermes_backend_docker.backend, hermes_backend_docker.checks\n"
        "print([name for name in ('docker', 'requests', 'urllib3') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
