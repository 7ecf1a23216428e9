"""What every backend promises of further folders, those beside the session's own."""

from pathlib import Path

import pytest

from hermes_core.kinds import Backend
from hermes_core.testing.contract_wall import WallContract
from hermes_core.testing.places import opened, sh
from hermes_core.types import Feature, Folder

__all__ = ["FoldersContract"]


class FoldersContract(WallContract):
    """Part of BackendContract."""

    @pytest.mark.asyncio
    async def test_further_folders_are_reached_if_claimed(self, backend: Backend, key: str, tmp_path: Path) -> None:
        """With Feature.FOLDERS commands reach further folders as they are given, and nothing that a link leads to.

        If this fails: show each at its own path, to read or to change, without following a link in its place.
        """
        if Feature.FOLDERS not in backend.features:
            async with opened(backend, key) as workspace:
                assert not workspace.also, "it claims no further folders, and says that it has some"
            return
        read, change, secret = (tmp_path / name for name in ("to-read", "to-change", "secret"))
        for place in (read, change, secret):
            place.mkdir()
            (place / "a.txt").write_text(f"of {place.name}")
        (change / "link").symlink_to(secret)
        also = (Folder(str(change), writes=True), Folder(str(read)))
        workspace = await backend.open(key, also)
        try:
            assert workspace.also == also
            assert (await sh(workspace, f"cat {read}/a.txt {change}/a.txt")).output == b"of to-readof to-change"
            assert (await sh(workspace, f"cat {change}/link/a.txt {secret}/a.txt")).status, "a link led out of it"
            assert (await sh(workspace, f"echo changed >{read}/a.txt")).status, "what was given to read was changed"
            assert (await sh(workspace, f"rm {read}/a.txt || mv {read} {read}.gone")).status
            assert not (await sh(workspace, f"echo changed >{change}/a.txt && echo new >{change}/b.txt")).status
        finally:
            await workspace.close()
        assert (read / "a.txt").read_text() == "of to-read"
        assert [(change / name).read_text() for name in ("a.txt", "b.txt")] == ["changed\n", "new\n"]

    @pytest.mark.asyncio
    async def test_what_is_read_in_further_folders_is_told(self, backend: Backend, key: str, tmp_path: Path) -> None:
        """With Feature.FOLDERS a result says that a further folder was read, however its path was spelled.

        If this fails: ``online`` is true where anything was opened there while the command ran.
        """
        if Feature.FOLDERS not in backend.features:
            return
        (tmp_path / "theirs" / "deep").mkdir(parents=True)
        (tmp_path / "theirs" / "deep" / "a.txt").write_text("Their words.")
        workspace = await backend.open(key, (Folder(str(tmp_path / "theirs")),))
        try:
            assert not (await sh(workspace, "echo hello")).online
            spelled = f"cd {tmp_path}; cat the*/d??p/*"
            result = await sh(workspace, spelled)
            assert (result.output, result.online) == (b"Their words.", True)
            assert not (await sh(workspace, "echo hello")).online
        finally:
            await workspace.close()

    @pytest.mark.asyncio
    async def test_nothing_that_runs_by_itself_stays_in_further_folders(
        self, backend: Backend, key: str, tmp_path: Path
    ) -> None:
        """With Feature.FOLDERS a command that may change a further folder leaves nothing there that runs by itself.

        If this fails: close such files to commands, or put back after the command what it changed in them.
        """
        if Feature.FOLDERS not in backend.features:
            return
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        (theirs / "AGENTS.md").write_text("As they wrote it.")
        workspace = await backend.open(key, (Folder(str(theirs), writes=True),))
        try:
            await sh(workspace, f"cd {theirs}; echo x >.envrc; echo x >AGENTS.md; echo x >plain.txt; true")
        finally:
            await workspace.close()
        assert not (theirs / ".envrc").exists()
        assert (theirs / "AGENTS.md").read_text() == "As they wrote it."
        assert (theirs / "plain.txt").read_text() == "x\n"
