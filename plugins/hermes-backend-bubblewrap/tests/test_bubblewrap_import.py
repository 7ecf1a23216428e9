"""What the plugin costs before it is used."""

import subprocess
import sys


def test_registering_loads_no_backend_code():
    script = (
        "import sys, hermes_backend_bubblewrap as it; "
        "sys.exit(any(m.startswith(it.__name__ + '.') or m in ('asyncio', 'subprocess') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
