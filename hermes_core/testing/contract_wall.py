"""What every backend promises of the wall around its commands: that it holds, and that what is said of it is true."""

from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import ClassVar, Protocol
from uuid import uuid4

import pytest

from hermes_core.kinds import Backend, Workspace
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.places import opened
from hermes_core.testing.witness import off_the_record
from hermes_core.types import ExecRequest, Feature

__all__ = ["WallContract"]


class _Proof(Protocol):
    tried: Sequence[str]
    through: Sequence[str]


class _Prover(Protocol):
    def says(self, text: str, /) -> bool: ...

    def tried(self, place: Workspace, /) -> Awaitable[_Proof]: ...


class WallContract(PluginContract):
    """The part of the contract of backends that is about walls.

    A backend whose places have one gives as ``proof`` the module ``hermes_backend_kit.proof`` of the library
    hermes-backend-kit, which tries a wall by what no command may do, and knows the words for what a wall does not keep.
    """

    proof: ClassVar[_Prover | None] = None

    @pytest.mark.asyncio
    async def test_its_wall_is_said_beforehand(self, backend: Backend, key: str) -> None:
        """What the backend says of its wall before a place is opened is what the place says, in the same words.

        If this fails: give the backend a ``wall`` that follows its settings; ``hermes status`` and the status bar show
        it. One that bounds nothing says what is missing: everything.
        """
        async with opened(backend, key) as workspace:
            wall, before = workspace.wall, backend.wall
        if before is None and wall.name == "none":
            return
        assert before is not None, f"the place has the wall {wall.name}, and the backend says nothing of it"
        assert (before.name, before.missing) == (wall.name, wall.missing), (
            "the backend and its place say different things"
        )
        if self.proof is not None:
            assert not (own := [text for text in wall.missing if not self.proof.says(text)]), f"words of its own: {own}"

    @pytest.mark.asyncio
    async def test_its_wall_holds(self, backend: Backend, key: str) -> None:
        """Nothing that a wall must stop gets through, but for what it says that it does not keep.

        If this fails: the message names what was let through. Close it, or say it in ``Wall.missing``; a place that has
        no wall says the name ``none``, and nothing is tried there.
        """
        async with opened(backend, key) as workspace:
            if workspace.wall.name == "none":
                pytest.skip("the workspace does not claim a wall")
            assert self.proof is not None, "the workspace has a wall; set ``proof`` to hermes_backend_kit.proof"
            with off_the_record():  # what is put there to be reached for is the test's own
                proof = await self.proof.tried(workspace)
        assert proof.tried, "nothing was tried"
        assert not proof.through, f"the wall {workspace.wall.name} lets through: {'; '.join(proof.through)}"

    @pytest.mark.asyncio
    async def test_isolation_is_real_if_claimed(self, backend: Backend, key: str, tmp_path: Path) -> None:
        """With Feature.ISOLATED or WALLED the machine's other files cannot be read or changed from inside.

        If this fails: do not claim it. Policy lets such places do what it would ask about elsewhere.
        """
        secret = tmp_path / f"outside-{uuid4().hex}"
        secret.write_bytes(b"secret")
        async with opened(backend, key) as workspace:
            if workspace.features.isdisjoint({Feature.ISOLATED, Feature.WALLED}):
                pytest.skip("the workspace does not claim ISOLATED or WALLED")
            assert workspace.wall.name != "none", "the workspace does not say which wall it has"
            for script in ('cat "$1"', 'echo changed >"$1"', 'rm -f "$1"'):
                result = await workspace.run(ExecRequest(argv=("sh", "-c", script, "sh", str(secret)), seconds=60.0))
                assert b"secret" not in result.output, "a file of this machine was read from inside"
        assert secret.is_file() and secret.read_bytes() == b"secret", "a file of this machine was changed from inside"  # noqa: PT018
