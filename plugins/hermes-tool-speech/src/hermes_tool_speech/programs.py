"""Programs that speak or hear: each is run behind a wall with a folder of its own, without the network.

A voice note may come from anybody, and what decodes it reads bytes of a stranger.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Blob, ExecRequest, Session
from hermes_tool_speech.config import Config
from hermes_tool_speech.ways import LARGEST, Local, bytes_of, kind_of

__all__ = ["Program", "endings", "rows", "run_in_folder"]

_OWN: Mapping[str, Mapping[str, Any]] = {
    "espeak-ng": {"speak": ["espeak-ng", "-v", "{voice}", "-f", "{text}", "-w", "{output}"], "voice": "en"}
}
endings = {  # of what sounds are, by their media types
    "audio/ogg": ".ogg", "audio/opus": ".opus", "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/mp4": ".m4a",
    "audio/x-m4a": ".m4a", "audio/aac": ".aac", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/flac": ".flac",
    "audio/webm": ".webm",
}  # fmt: skip


def rows(config: Config) -> dict[str, Mapping[str, Any]]:
    """The programs there are by name: our own, and the person's in their place."""
    return {**_OWN, **{name: one for name, one in config.programs.items() if isinstance(one, dict)}}


class Program(Local):
    """One program."""

    def __init__(self, ctx: PluginContext, config: Config, name: str, row: Mapping[str, Any]) -> None:
        self._ctx, self._config, self.name, self._row = ctx, config, name, row
        self._seconds = float(row.get("seconds", config.seconds))

    def missing(self) -> str:
        """The programs that are not there."""
        words = [self._row[verb][0] for verb in ("speak", "hear") if self._row.get(verb)]
        gone = [word for word in words if not shutil.which(word)]
        return f"There is no program {gone[0]} on this machine." if gone else ""

    async def speak(self, text: str, session: Session | None = None) -> Blob:
        """Say a text aloud: the program reads the file ``{text}`` and writes ``{output}``."""
        if not self._row.get("speak"):
            return await super().speak(text)
        words = {"voice": self._config.voice or str(self._row.get("voice", "")), "language": self._config.language}
        made = await self._run(self._row["speak"], words, {"text": ("text.txt", text.encode())}, "output.wav")
        if not made:
            raise ToolError(f"{self.name} wrote no sound.", retry=False)
        kind = kind_of(made)
        if not kind:
            raise ToolError(f"{self.name} wrote what is no sound.", retry=False)
        return Blob(media_type=kind, data=made, name=f"speech{endings[kind]}")

    async def hear(self, sound: Blob, session: Session | None = None) -> str:
        """Write down a sound: the program reads ``{input}``, and writes ``{output}`` or says it."""
        if not self._row.get("hear"):
            return await super().hear(sound)
        ending = endings.get(sound.media_type.partition(";")[0].strip(), ".bin")
        given = {"input": (f"input{ending}", bytes_of(sound))}
        said = await self._run(self._row["hear"], {"language": self._config.language or "en"}, given, "output.txt")
        return said.decode("utf-8", "replace").strip()

    async def _run(
        self, words: Sequence[str], names: Mapping[str, str], given: Mapping[str, tuple[str, bytes]], output: str
    ) -> bytes:
        """What a program wrote into its output, or said where it wrote nothing. Raises UserError, ToolError."""
        if why := self.missing():
            raise UserError(why, hint="Install it, or set another one.")
        reads = [str(Path(one).expanduser()) for one in self._row.get("reads", ())]
        return await run_in_folder(self._ctx, words, names, given, output, reads=reads, seconds=self._seconds)


async def run_in_folder(
    ctx: PluginContext,
    words: Sequence[str],
    names: Mapping[str, str],
    given: Mapping[str, tuple[str, bytes]],
    output: str,
    *,
    reads: Sequence[str] = (),
    seconds: float = 120.0,
    largest: int = LARGEST,
) -> bytes:
    """Run a program in a folder that goes with it; what it wrote into ``output`` there, else what it said.

    Args:
        words: The program and its arguments; ``{name}`` means a file of ``given``, ``{output}``, or one of ``names``.
        given: Files by the names that ``words`` use: each its file's name and what is in it.
    """
    from hermes_backend_wall.alone import Reach, run_alone
    from hermes_backend_wall.limits import Limits
    from hermes_backend_wall.plan import base_of, records_of

    # Made and filled without a thread: what is cancelled meanwhile would leave the thread's work behind.
    with tempfile.TemporaryDirectory(prefix="hermes-speech-", ignore_cleanup_errors=True) as made_for_it:
        folder = Path(made_for_it).resolve()
        for name, data in given.values():
            (folder / name).write_bytes(data)
        paths = {key: str(folder / name) for key, (name, _) in given.items()} | {"output": str(folder / output)}
        argv = [_filled(word, {**names, **paths}) for word in words]
        argv[0] = shutil.which(argv[0]) or argv[0]
        home = ctx.paths.home
        reach = Reach(
            folder=str(folder),
            aside=ctx.paths.cache / "kept",
            records=records_of(home),
            readable=[argv[0], *reads],
            writable=[str(folder)],
            hidden=(base_of(home), home),
            limits=Limits(memory_mb=4_000, processes=64),
        )
        result, _ = await run_alone(reach, ExecRequest(argv=argv, cwd=str(folder), seconds=seconds))
        said = result.output.decode(errors="replace").strip()
        if result.status:
            last = said.splitlines()[-1][:300] if said else f"exit {result.status}"
            late = f"it did not end within {seconds:g} seconds"
            raise ToolError(f"{words[0]} failed: {late if result.status == 124 else last}", retry=False)
        made = folder / output
        if not made.is_file() or made.is_symlink():
            return result.output
        if made.stat().st_size > largest:
            raise ToolError(f"{words[0]} wrote more than {largest:,} bytes.", retry=False)
        return await asyncio.to_thread(made.read_bytes)


def _filled(word: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        word = word.replace(f"{{{name}}}", value)
    return word
