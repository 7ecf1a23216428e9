"""A real dockerd with a data folder of its own and two small images, for everything that is marked ``real``."""

import logging
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from attrs import frozen

from hermes_backend_docker.backend import Docker
from hermes_backend_docker.config import Config

sys.path.insert(0, str(Path(__file__).parent))  # for docker_steps; pytest does not do it in this import mode
DOCKERD = shutil.which("dockerd") or "/usr/sbin/dockerd"
BUSYBOX = Path("/bin/busybox")
LOG = logging.getLogger("hermes.docker")


@frozen
class Daemon:
    """A running dockerd."""

    folder: Path
    port: int
    process: list[subprocess.Popen]

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    @property
    def tcp(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = [DOCKERD, f"--data-root={self.folder}/data", f"--exec-root={self.folder}/exec"]
        words += [f"--pidfile={self.folder}/pid", "-H", self.url, "--iptables=false", "--ip6tables=false"]
        words += ["--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs", "--shutdown-timeout=2"]
        words += [
            "-H",
            self.tcp,
            "--tlsverify",
            *(f"--tls{n}={self.folder}/{n}.pem" for n in ("cacert", "cert", "key")),
        ]
        with (self.folder / "log").open("ab") as log:
            self.process[:] = [subprocess.Popen(words, stdout=log, stderr=log)]
        end = time.monotonic() + 60
        while self.ask("version").returncode:
            assert self.process[0].poll() is None, (self.folder / "log").read_text()[-3000:]
            assert time.monotonic() < end, "dockerd does not answer"
            time.sleep(0.1)

    def stop(self) -> None:
        self.process[0].terminate()
        self.process[0].wait()

    def ask(self, *words: str, **options) -> subprocess.CompletedProcess:
        """The docker command against it."""
        env = {"PATH": os.environ["PATH"], "DOCKER_HOST": self.url, "DOCKER_CONFIG": str(self.folder / "config")}
        return subprocess.run(["docker", *words], env=env, capture_output=True, check=False, **options)

    def told(self, *words: str) -> str:
        done = self.ask(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()


def _missing(what: str, package: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing; install {package}. In CI nothing real is skipped.")
    pytest.skip(f"{what} is missing (apt install {package})")


@pytest.fixture(scope="session")
def daemon(tmp_path_factory):
    """dockerd with the images ``plain:test`` (busybox) and ``bash:test`` (bash besides)."""
    if not Path(DOCKERD).exists() or not shutil.which("docker"):
        _missing("dockerd", "docker.io")
    if not BUSYBOX.exists():
        _missing("busybox", "busybox-static")
    if not shutil.which("openssl"):
        _missing("openssl", "openssl")
    if os.getuid():
        pytest.skip("dockerd needs root")
    folder = tmp_path_factory.mktemp("dockerd")
    _certificates(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = Daemon(folder, port, [])
    running.start()
    try:
        for name, programs in (("plain:test", []), ("bash:test", ["/bin/bash", "/usr/bin/setsid"])):
            _image(running, name, programs)
        yield running
    finally:
        left = running.ask("ps", "-aq").stdout.decode().split()
        running.ask("rm", "-f", *left)
        running.stop()


@pytest.fixture(scope="session")
def with_python(daemon):
    """The image ``python:test``, with the system's Python and as much of its library as probes import."""
    modules = "ctypes, encodings.idna, errno, fcntl, json, resource, signal, socket, struct, subprocess, time"
    script = f"import sys, {modules}; print(*(m.__file__ for m in sys.modules.values() if hasattr(m, '__file__')))"
    done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    _image(daemon, "python:test", ["/bin/bash", "/usr/bin/setsid", "/usr/bin/python3"], done.stdout.split())
    return "python:test"


def _image(daemon: Daemon, name: str, programs: list[str], files: list[str] = ()) -> None:
    tar = daemon.folder / "image.tar"
    _root(daemon.folder / name.partition(":")[0], programs, files, tar)
    daemon.told("import", "-c", 'CMD ["/bin/sh"]', str(tar), name)


def _certificates(folder: Path) -> None:
    """An authority, and one certificate for the daemon and who speaks to it."""
    ssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subject = ["-subj", "/CN=hermes test", "-addext", "subjectAltName=IP:127.0.0.1"]
    own = ["-keyout", folder / "cakey.pem", "-out", folder / "cacert.pem"]
    usage = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"]  # Python 3.13 trusts no authority without it
    subprocess.run([*ssl, "-subj", "/CN=authority", *usage, *own], capture_output=True, check=True)
    signed = ["-CA", folder / "cacert.pem", "-CAkey", folder / "cakey.pem"]
    one = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run([*ssl, *subject, *one, *signed], capture_output=True, check=True)
    shutil.copy(folder / "cacert.pem", folder / "ca.pem")  # as DOCKER_CERT_PATH wants it


def _root(folder: Path, programs: list[str], files: list[str], tar: Path) -> None:
    """A file system of busybox and some programs and files of this machine with their libraries."""
    for name in ("bin", "etc", "root", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").chmod(0o1777)
    (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    shutil.copy(BUSYBOX, folder / "bin/busybox")
    for name in subprocess.run([BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if name != "busybox":
            (folder / "bin" / name).symlink_to("busybox")
    for program in (*programs, *files):
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=program in programs).stdout
        needed = [word for word in libraries.split() if word.startswith("/") and not word.endswith(":")]
        for file in (program, *needed):
            target = folder / file.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(file, target)
    with tarfile.open(tar, "w") as archive:
        archive.add(folder, ".")


@pytest.fixture
def folder(tmp_path):
    """The folder of a session."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def make(daemon, tmp_path):
    """Makes backends of one home; settings as keywords."""

    def backend(home: str = "home", environ=None, **settings) -> Docker:
        settings = {"image": "bash:test", "lifetime_seconds": 600, "host": daemon.url, **settings}
        return Docker(Config(**settings), tmp_path / home, LOG, environ)

    before = set(daemon.told("ps", "-aq").split())
    yield backend
    left = set(daemon.told("ps", "-aq").split()) - before
    if left:
        daemon.ask("rm", "-f", *left)
