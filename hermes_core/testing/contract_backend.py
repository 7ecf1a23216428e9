"""What every backend promises: places where commands run."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.kinds import Backend
from hermes_core.testing.contract_folders import FoldersContract
from hermes_core.testing.leftovers import Traces
from hermes_core.testing.places import (
    EVERY_BYTE,
    ODD_FILES,
    ODD_WORDS,
    TREE,
    in_each_way,
    make_folder,
    opened,
    read_until,
    sh,
    wait_for_file,
    wait_for_status,
    wait_until_gone,
)
from hermes_core.types import ExecRequest, Feature

__all__ = ["BackendContract"]

PLANTED = ("HERMES_PLANTED_API_KEY", f"planted-{uuid4().hex}")


class BackendContract(FoldersContract):
    """Inherit and name your ``module``; a POSIX shell is expected in the place.

    ``patience`` is the time-out, in seconds, within which a command that sleeps has surely been started there.
    ``key`` and ``other_key`` are two folders as ``open`` takes them; by default two on this machine. ``proof`` is what
    tries a wall: see WallContract.
    """

    kind = "backend"
    patience: ClassVar[float] = 1.0

    @pytest.fixture(autouse=True)
    def planted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A secret in the environment of Hermes, from before the backend is made."""
        monkeypatch.setenv(*PLANTED)

    @pytest.fixture
    def backend(self, contributed: Mapping[str, list[Any]]) -> Backend:
        """The backend under test; by default the first one the plugin contributes."""
        assert contributed.get("backends"), "the plugin contributes no backend; give a backend fixture"
        backend: Backend = contributed["backends"][0]
        return backend

    @pytest.fixture
    def key(self, tmp_path: Path) -> str:
        """The folder of a session."""
        return make_folder(tmp_path / "one")

    @pytest.fixture
    def other_key(self, tmp_path: Path) -> str:
        """The folder of another session."""
        return make_folder(tmp_path / "two")

    @pytest.fixture
    def subject(self, backend: Backend, key: str) -> Any:
        """The backend and a key to open."""
        return backend, key

    async def exercise(self, subject: Any) -> None:
        """Open, run, close."""
        async with opened(*subject) as workspace:
            await sh(workspace, "echo hello")

    @pytest.mark.asyncio
    async def test_the_status_of_a_command_is_told(self, backend: Backend, key: str) -> None:
        """The exit status comes back as it was; a command ended by signal n gives 128+n.

        If this fails: asyncio gives -n for signal n; add 128. Nothing may turn a failure into a 0.
        """
        async with opened(backend, key) as workspace:
            for status in (0, 1, 7, 255):
                assert (await sh(workspace, f"exit {status}")).status == status
            assert (await sh(workspace, "kill -TERM $$")).status == 143, "a command ended by SIGTERM gives 143"

    @pytest.mark.asyncio
    async def test_a_command_that_is_not_there_is_told(self, backend: Backend, key: str) -> None:
        """A program that does not exist is a ToolError, or status 126 or 127 with the reason in the output.

        If this fails: catch OSError where the process is made and say which program is missing.
        """
        async with opened(backend, key) as workspace:
            try:
                result = await workspace.run(ExecRequest(argv=("hermes-no-such-program",), seconds=60.0))
                assert result.status in (126, 127), f"a missing program gave status {result.status}"
                said = result.output.decode(errors="replace")
            except ToolError as error:
                said = str(error)
            assert "hermes-no-such-program" in said, f"the message does not name the program: {said!r}"

    @pytest.mark.asyncio
    async def test_arguments_arrive_as_they_are(self, backend: Backend, key: str) -> None:
        """No shell touches ``argv``: quotes, blanks, line breaks, dollars and empty arguments arrive unchanged.

        If this fails: pass the list, or quote each argument (shlex.quote) where the way there is a shell.
        """
        async with opened(backend, key) as workspace:
            argv = ("sh", "-c", 'for word in "$@"; do printf "%s\\0" "$word"; done', "sh", *ODD_WORDS)
            result = await workspace.run(ExecRequest(argv=argv, seconds=60.0))
        assert result.output.decode().split("\0")[:-1] == ODD_WORDS

    @pytest.mark.asyncio
    async def test_stdin_arrives_and_ends(self, backend: Backend, key: str) -> None:
        """A command reads its whole stdin, every byte of it, and then its end; also when there is none.

        If this fails: write, then close the pipe; a command that is never told the end waits for ever.
        """
        async with opened(backend, key) as workspace:
            data = EVERY_BYTE * 1_000
            same = (await workspace.run(ExecRequest(argv=("cat",), stdin=data, seconds=60.0))).output
            assert same == data, f"{len(data)} bytes went in, {len(same)} came out"
            nothing = await workspace.run(ExecRequest(argv=("cat",), seconds=60.0))
            assert (nothing.status, nothing.output) == (0, b""), f"without stdin cat gave {nothing}"
            unread = ExecRequest(argv=("true",), stdin=data, seconds=60.0)
            assert (await workspace.run(unread)).status == 0, "a command that does not read its stdin failed"

    @pytest.mark.asyncio
    async def test_both_streams_are_joined(self, backend: Backend, key: str) -> None:
        """Output holds what went to stdout and to stderr, in the order of writing, byte for byte, without additions.

        If this fails: give the command one pipe for both; decode nothing.
        """
        async with opened(backend, key) as workspace:
            result = await sh(workspace, "echo one; echo two >&2; echo three")
            assert result.output == b"one\ntwo\nthree\n"
            assert not result.truncated, "14 bytes were marked as truncated"
            octal = "".join(f"\\{byte:03o}" for byte in EVERY_BYTE)
            assert (await sh(workspace, f"printf '{octal}'")).output == EVERY_BYTE, "binary output was changed"

    @pytest.mark.asyncio
    async def test_long_output_keeps_head_and_tail(self, backend: Backend, key: str) -> None:
        """Ten megabytes come whole when the limit allows; else head and tail are kept and ``truncated`` says so.

        If this fails: keep the first and last half of ``limit`` bytes while reading, so that memory stays bounded.
        """
        script = "echo head; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo tail"
        async with opened(backend, key) as workspace:
            whole = await workspace.run(ExecRequest(argv=("sh", "-c", script), seconds=120.0, limit=20_000_000))
            assert len(whole.output) == 10_000_011, f"10,000,011 bytes were written, {len(whole.output)} came"
            assert not whole.truncated, "output within the limit was marked as truncated"
            cut = await workspace.run(ExecRequest(argv=("sh", "-c", script), seconds=120.0, limit=100_000))
        assert cut.truncated, "output beyond the limit was not marked as truncated"
        assert len(cut.output) <= 101_000, f"the limit is 100,000 bytes, {len(cut.output)} were kept"
        assert cut.output.startswith(b"head\n"), "the head was dropped"
        assert cut.output.endswith(b"tail\n"), "the tail was dropped"

    @pytest.mark.asyncio
    async def test_output_is_shown_as_it_comes(self, backend: Backend, key: str) -> None:
        """``on_output`` gets all output while the command still runs.

        If this fails: read in a loop and hand on each piece, instead of waiting for the end. People watch this.
        """
        pieces: list[bytes] = []
        async with opened(backend, key) as workspace:
            rounds = f"[ ! -e go ] && [ $i -lt {int(300 * self.patience)} ]"
            script = f"echo first; i=0; while {rounds}; do i=$((i+1)); sleep 0.01; done; cat go"
            seen = asyncio.Event()

            def watch(data: bytes) -> None:
                pieces.append(data)
                seen.set()

            request = ExecRequest(argv=("sh", "-c", script), seconds=60.0, on_output=watch)
            running = asyncio.create_task(workspace.run(request))
            waiting = asyncio.create_task(seen.wait())
            await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
            early = bool(pieces) and not running.done()
            waiting.cancel()
            await workspace.write("go", b"second\n")
            result = await running
        assert early, "no output was shown while the command ran"
        assert b"".join(pieces) == result.output == b"first\nsecond\n"

    @pytest.mark.asyncio
    async def test_a_time_out_ends_the_whole_tree(self, backend: Backend, key: str) -> None:
        """After ``seconds`` the status is 124, and the command and all that it started are gone.

        If this fails: start the command in a session of its own and kill the process group, not only the process.
        """
        async with opened(backend, key) as workspace:
            result = await workspace.run(ExecRequest(argv=("sh", "-c", TREE), seconds=self.patience))
            assert result.status == 124, f"a time-out gave status {result.status}"
            await wait_until_gone(workspace, "parent", "child")

    @pytest.mark.asyncio
    async def test_a_cancelled_command_leaves_the_workspace_usable(self, backend: Backend, key: str) -> None:
        """A run that is cancelled ends all that it started, and the next command works.

        If this fails: kill the process group in ``finally``, wait for it, and let CancelledError pass.
        """
        async with opened(backend, key) as workspace:
            await sh(workspace, "true")  # what a workspace keeps open from its first use on is not left behind
            before = Traces.now()
            running = asyncio.create_task(workspace.run(ExecRequest(argv=("sh", "-c", TREE), seconds=60.0)))
            await wait_for_file(workspace, "child", running)
            running.cancel()
            await asyncio.wait([running])
            assert running.cancelled(), f"a cancelled run came to {running}"
            await wait_until_gone(workspace, "parent", "child")
            assert not (left := await before.left()), "after a cancelled run: " + "; ".join(left)
            assert (await sh(workspace, "echo again")).output == b"again\n"

    @pytest.mark.asyncio
    async def test_folder_and_variables_are_those_asked_for(self, backend: Backend, key: str) -> None:
        """A command runs in the workspace's ``cwd`` or the request's, and sees the request's variables besides PATH.

        If this fails: ``cwd`` of a request may be relative to the workspace's; ``env`` is added, it does not replace.
        """
        async with opened(backend, key) as workspace:
            assert workspace.cwd, "the workspace does not say its cwd"
            here = (await sh(workspace, "mkdir -p 'sub folder'; pwd -P")).output.decode().strip()
            there = await sh(workspace, "pwd -P", cwd=f"{workspace.cwd}/sub folder")
            assert there.output.decode().strip() == f"{here}/sub folder"
            value = "two words, 'quotes', $HOME"
            seen = await sh(workspace, 'printf "%s" "$HERMES_TEST"; test -n "$PATH"', env={"HERMES_TEST": value})
            assert seen.output.decode() == value, f"the variable arrived as {seen.output!r}"
            assert seen.status == 0, "PATH is gone"
            after = (await sh(workspace, 'printf "%s" "$HERMES_TEST"')).output
            assert after == b"", "a variable of one request is seen by the next"

    @pytest.mark.asyncio
    async def test_each_command_bears_its_mark(self, backend: Backend, key: str) -> None:
        """Every command, also one in the background, sees ``HERMES_RUN`` as its request has it.

        If this fails: pass ``request.environment`` on, or ``request.env`` beside the variables of a place elsewhere.
        """
        async with opened(backend, key) as workspace:
            async for request, said in in_each_way(workspace, 'printf "%s" "$HERMES_RUN"'):
                assert request.env[MARK] in said, f"the mark of the request is {request.env[MARK]}, it saw {said!r}"

    @pytest.mark.asyncio
    async def test_secrets_of_hermes_stay_with_it(self, backend: Backend, key: str) -> None:
        """No command, also none in the background, sees a secret that is in the environment of Hermes.

        If this fails: never pass ``os.environ`` on. ``request.environment`` is the same without secrets.
        """
        async with opened(backend, key) as workspace:
            async for _, said in in_each_way(workspace, "export -p"):
                assert PLANTED[1] not in said, f"a command saw {PLANTED[0]}: the backend passes os.environ on"

    @pytest.mark.asyncio
    async def test_the_shell_lasts_if_claimed(self, backend: Backend, key: str) -> None:
        """With Feature.PERSISTENT_SHELL, folder and exported variables last from one ``bash -c`` to the next.

        If this fails: do not claim it, or carry both over. Without the claim each command starts afresh.
        """
        async with opened(backend, key) as workspace:
            lasts = Feature.PERSISTENT_SHELL in workspace.features
            await sh(workspace, "mkdir -p deep")
            argv = ("bash" if lasts else "sh", "-c")
            await workspace.run(ExecRequest(argv=(*argv, "cd deep && export KEPT='a b'"), seconds=60.0))
            script = 'printf "%s|%s" "${PWD##*/}" "$KEPT"'
            after = (await workspace.run(ExecRequest(argv=(*argv, script), seconds=60.0))).output.decode()
        if lasts:
            assert after == "deep|a b", f"PERSISTENT_SHELL is claimed, and the next command saw {after!r}"
        else:
            assert after.endswith("|"), f"PERSISTENT_SHELL is not claimed, and a variable lasted: {after!r}"
            assert not after.startswith("deep"), "PERSISTENT_SHELL is not claimed, and the folder lasted"

    @pytest.mark.asyncio
    async def test_two_workspaces_do_not_see_each_other(self, backend: Backend, key: str, other_key: str) -> None:
        """Another key is another place: relative files and shell state stay apart. The same key is the same place.

        If this fails: keep state on the workspace, not on the backend; start in the folder that ``key`` names.
        """
        async with opened(backend, key) as one, opened(backend, other_key) as two:
            await one.write("mark.txt", b"one")
            await sh(one, "export MARK=one")
            with pytest.raises(ToolError):
                await two.read("mark.txt")
            assert (await sh(two, 'printf "%s" "$MARK"')).output == b"", "a variable crossed over"
            async with opened(backend, key) as again:
                assert await again.read("mark.txt") == b"one", "the same key opened another place"

    @pytest.mark.asyncio
    async def test_what_is_written_is_read(self, backend: Backend, key: str) -> None:
        """Files round-trip byte for byte, with any name, in folders that are made on the way.

        If this fails: the defaults of Workspace do it over ``run``; if you override them, decode nothing, quote names.
        """
        async with opened(backend, key) as workspace:
            for name, data in ODD_FILES.items():
                await workspace.write(name, data)
            for name, data in ODD_FILES.items():
                assert await workspace.read(name) == data, f"{name!r} came back changed"
            await workspace.write("plain.txt", b"new")
            assert await workspace.read("plain.txt") == b"new", "a second write did not replace the file"
            assert await workspace.read(f"{workspace.cwd}/plain.txt") == b"new", "an absolute path is another file"
            assert (await sh(workspace, "cat plain.txt")).output == b"new", "commands see another file"

    @pytest.mark.asyncio
    async def test_a_missing_file_is_a_tool_error(self, backend: Backend, key: str) -> None:
        """Reading what is not there, or a folder, and writing where it cannot be, raises ToolError with the name.

        If this fails: turn OSError or a failed status into ToolError(f"Cannot read {path}: …").
        """
        async with opened(backend, key) as workspace:
            await workspace.write("file", b"")
            missing, folder = workspace.read("not-there.txt"), workspace.read(".")
            below = workspace.write("file/below", b"")
            for path, work in (("not-there.txt", missing), (".", folder), ("file/below", below)):
                with pytest.raises(ToolError) as raised:
                    await work
                assert path in str(raised.value), f"the message does not name {path}: {raised.value}"

    @pytest.mark.asyncio
    async def test_background_commands_work_if_claimed(self, backend: Backend, key: str) -> None:
        """With Feature.BACKGROUND a command runs on, is read and polled, and kill ends its tree; else ToolError.

        If this fails: do not claim it, or give a Process whose ``kill`` reaches everything that was started.
        """
        async with opened(backend, key) as workspace:
            request = ExecRequest(argv=("sh", "-c", f"echo started; {TREE}"), seconds=60.0)
            if Feature.BACKGROUND not in workspace.features:
                with pytest.raises(ToolError):
                    await workspace.start(request)
                return
            process = await workspace.start(request)
            assert process.id, "the process has no id"
            assert b"started" in await read_until(workspace, process, b"started"), "its output cannot be read"
            assert await process.poll() is None, "it has not ended, and poll gives a status"
            await wait_for_file(workspace, "child", None)
            await process.kill()
            await wait_until_gone(workspace, "parent", "child")
            assert await process.poll() is not None, "after kill, poll gives no status"
            ended = await workspace.start(ExecRequest(argv=("sh", "-c", "echo done; exit 3"), seconds=60.0))
            assert await wait_for_status(workspace, ended) == 3, "poll does not give the exit status"
            assert b"done" in await ended.read(), "the last output is lost once it has ended"

    @pytest.mark.asyncio
    async def test_closing_ends_what_runs(self, backend: Backend, key: str) -> None:
        """Close ends background commands and may be called twice; the folder stays.

        If this fails: remember every process that ``start`` made and kill it in ``close``.
        """
        async with opened(backend, key) as workspace:
            await workspace.write("kept.txt", b"kept")
            if Feature.BACKGROUND in workspace.features:
                await workspace.start(ExecRequest(argv=("sh", "-c", TREE), seconds=60.0))
                await wait_for_file(workspace, "child", None)
            await workspace.close()
        async with opened(backend, key) as again:
            assert await again.read("kept.txt") == b"kept", "close removed a file"
            if Feature.BACKGROUND in again.features:
                await wait_until_gone(again, "child")

    @pytest.mark.asyncio
    async def test_it_says_what_can_be_had(self, backend: Backend, key: str) -> None:
        """``ready`` gives a bool, and the features that a backend names beforehand are those of its places.

        If this fails: ``ready`` must not raise, whatever is missing; a feature that depends on settings is named by an
        instance, not by the class. A person chooses by these before anything is opened.
        """
        assert await backend.ready() in (True, False), "ready() does not give a bool"
        async with opened(backend, key) as workspace:
            named = backend.features | (workspace.features - {Feature.ISOLATED})
            assert named == workspace.features, "the backend and its place do not name the same features"

    @pytest.mark.asyncio
    async def test_its_files_are_here_if_claimed(self, backend: Backend, key: str) -> None:
        """With Feature.LOCAL a file inside is the file of this machine with the same path.

        If this fails: do not claim it. What works on this machine's files would work on the wrong ones.
        """
        async with opened(backend, key) as workspace:
            if Feature.LOCAL not in workspace.features:
                pytest.skip("the workspace does not claim LOCAL")
            await workspace.write("here.txt", b"here")
            assert Path(workspace.cwd, "here.txt").read_bytes() == b"here", "a file written inside is not in cwd here"
