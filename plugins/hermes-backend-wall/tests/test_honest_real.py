"""What honest work needs, behind every wall."""

import asyncio
import os
import shutil
import socket

import pytest

from hermes_backend_wall.walled import Walled
from hermes_core.types import ExecRequest

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


async def test_a_repository_is_made_and_worked_in(bash, folder):
    status, said = await bash(
        "git init -q . && echo 1 >a && git add a && git commit -qm one && git checkout -qb other && echo 2 >>a && "
        "git commit -qam two && git remote add origin https://example.org/x.git && git config user.name Ben && "
        "git log --format='%an %s' && git config remote.origin.url"
    )
    assert (status, said.splitlines()) == (0, ['Ann "A" B two', 'Ann "A" B one', "https://example.org/x.git"])
    assert "url = https://example.org/x.git" in (folder / ".git/config").read_text()


async def test_commands_run_however_many_files_hermes_has_open(folder, plan):
    from hermes_backend_local.workspace import Here

    opened = []
    try:
        while not opened or opened[-1] < 105:
            opened.append(os.open("/dev/null", os.O_RDONLY))
            if opened[-1] not in range(92, 106):
                continue
            place = Here(str(folder), walled=Walled(str(folder), plan))
            try:
                result = await place.run(ExecRequest(argv=("bash", "-c", "echo hi")))
                assert result.output == b"hi\n", opened[-1]
            finally:
                await place.close()
    finally:
        for fd in opened:
            os.close(fd)


async def test_a_file_comes_into_another_folder_and_no_other_does(bash, folder, person):
    script = (
        "import os; os.mkdir('p'); os.mkdir('q'); open('p/f', 'w').write('x'); os.rename('p/f', 'q/f'); "
        "os.link('q/f', 'p/g'); os.rename('q', 'p/q'); print(open('p/g').read() + open('p/q/f').read())\n"
        f"for made in (os.link, os.rename):\n"
        f"  try: made('{person}/Documents/letter.txt', 'p/letter'); print('got it')\n"
        "  except OSError: pass"
    )
    assert await bash(f'python3 -c "{script}"') == (0, "xx\n")


@pytest.mark.skipif(not shutil.which("gcc"), reason="no compiler")
async def test_a_program_is_built(bash):
    status, said = await bash(
        "printf 'all: p\\np: p.c\\n\\tgcc -o p p.c\\n' >Makefile; printf 'int main(){return 7;}' >p.c; make -s && ./p"
    )
    assert (status, said) == (7, "")


async def test_an_environment_with_a_package_and_its_tests(bash):
    status, said = await bash(
        "mkdir -p pkg/thing && echo 'def two(): return 2' >pkg/thing/__init__.py && "
        'printf \'[build-system]\\nrequires=[]\\nbuild-backend="b"\\nbackend-path=["."]\\n\' >pkg/pyproject.toml && '
        "python3 -m venv --system-site-packages env && . env/bin/activate && "
        "cp -r pkg/thing env/lib/python3*/site-packages/ && echo 'from thing import two; assert two() == 2' >t.py && "
        "python t.py && python -c 'import multiprocessing as m; l = m.Lock(); print(l.acquire())'"
    )
    assert (status, said) == (0, "True\n")


@pytest.mark.skipif(not shutil.which("npm"), reason="no npm")
async def test_a_local_package_of_node_is_installed_and_served(bash):
    status, said = await bash(
        'mkdir -p dep && echo \'{"name":"dep","version":"1.0.0"}\' >dep/package.json && echo "module.exports=2" '
        '>dep/index.js && echo \'{"name":"app","version":"1.0.0"}\' >package.json && '
        'npm install --silent --no-audit --no-fund ./dep && node -e \'require("assert")(require("dep")===2)\' && '
        "node -e \"const h=require('http');h.createServer((q,r)=>r.end('hi')).listen(0,function(){"
        "h.get('http://localhost:'+this.address().port,r=>{r.pipe(process.stdout);r.on('end',()=>process.exit())})})\""
    )
    assert (status, said) == (0, "hi")


async def test_a_server_in_the_background_is_reached(here, bash):
    await here.start(
        ExecRequest(argv=("python3", "-c", "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8731)"))
    )
    status, said = await bash(
        "echo ok >index.html; for i in $(seq 100); do curl -sf http://127.0.0.1:8731/ && exit; sleep 0.2; done; exit 1"
    )
    assert (status, said) == (0, "ok\n")


async def test_folders_and_variables_last_and_tmp_is_its_own(bash, here):
    await bash('mkdir sub && cd sub && export A=1 && echo x >"$TMPDIR/f"')
    status, said = await bash('echo "$PWD $A"; cat "$TMPDIR/f"; echo ~/code/project/*')
    assert status == 0
    assert said.splitlines()[0].endswith("/sub 1")
    assert said.splitlines()[1] == "x"
    assert "sub" in said.splitlines()[2]


async def test_what_the_home_holds_stays_from_one_session_to_the_next_and_tmp_does_not(folder, plan):
    from hermes_backend_local.workspace import Here

    for expected in ("", "kept\n"):
        place = Here(str(folder), walled=Walled(str(folder), plan))
        try:
            script = 'cat ~/f "$TMPDIR/f"; echo kept >~/f; echo x >"$TMPDIR/f"'
            result = await place.run(ExecRequest(argv=("sh", "-c", f"({script}) 2>/dev/null")))
        finally:
            await place.close()
        assert result.output.decode() == expected


async def test_a_connection_to_the_door_is_handed_over_and_no_other(folder, plan, tmp_path):
    from attrs import evolve

    from hermes_backend_local.workspace import Here

    heard = []

    async def serve(caller):
        loop = asyncio.get_running_loop()
        with caller:
            heard.append(await loop.sock_recv(caller, 1000))
            await loop.sock_sendall(caller, b"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno\n")

    walled = Walled(str(folder), evolve(plan, on_connection=serve))
    place = Here(str(folder), walled=walled)
    try:
        script = 'curl -s --max-time 20 http://example.org/x; echo "$https_proxy $NO_PROXY"'
        result = await place.run(ExecRequest(argv=("bash", "-c", script), seconds=40))
        door = (await walled.sandbox()).door
        assert result.output.decode() == f"no\nhttp://127.0.0.1:{door} localhost,127.0.0.1,::1\n"
        assert heard[0].startswith(b"GET http://example.org/x HTTP/1.1\r\n")
        if plan.kind == "landlock":  # the port stands on everybody's loopback
            with socket.create_connection(("127.0.0.1", door)) as other:
                assert await asyncio.to_thread(other.recv, 1) == b""
        assert len(heard) == 1
    finally:
        await place.close()
