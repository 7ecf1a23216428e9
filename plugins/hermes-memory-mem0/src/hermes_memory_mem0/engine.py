"""mem0 over the folder of one person, opened for one piece of work.

Qdrant's store in a folder lets one process in. So it is opened under a lock for each piece of work and closed after it:
a chat, a gateway and a command have their turns. What mem0 would keep beside it (a history with every text that was
deleted, the last messages) is in memory alone, and nothing is told to its makers.
"""

import json
import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from hermes_atomic.whole import Busy, held, replace
from hermes_core.errors import ToolError
from hermes_memory_mem0.models import Models

__all__ = ["Folder"]

_PATIENCE = 10.0  # seconds to wait for another process
_WHOSE = {"user_id": "owner"}  # a folder is of one person
_ALL = 100_000
_importing = threading.Lock()


class Folder:
    """What mem0 keeps of one person. All methods wait; they are for threads.

    ``store`` names its part for the model that made the vectors: another model has another one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def everything(self) -> Sequence[Mapping[str, Any]]:
        """Return all that is kept, as mem0 gives it. Raises ToolError."""
        if not self._path.is_dir():
            return []
        with self._held():
            return self._all(self._made_by())

    def found(self, models: Models, query: str, limit: int) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, float]]:
        """Return all that is kept, and how near in meaning what is nearest is, by id. Raises ToolError, HermesError."""
        if not self._path.is_dir():
            return [], {}
        with self._held(), self._open(models, query) as memory:
            near = memory.search(query, top_k=limit, filters=dict(_WHOSE), threshold=0.0)["results"]
            return _listed(memory), {str(one["id"]): float(one["score"]) for one in near}

    def add(self, models: Models, text: str, about: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a text as it is, once. Raises ToolError, HermesError."""
        with self._held(), self._open(models, text) as memory:
            for one in _listed(memory):
                if one["memory"] == text:
                    return one
            said = [{"role": "user", "content": text}]
            made = memory.add(said, user_id=_WHOSE["user_id"], metadata=dict(about), infer=False)["results"][0]
            return {"id": made["id"], "memory": text, "metadata": about}

    def learn(self, models: Models, said: Sequence[Mapping[str, str]], about: Mapping[str, Any]) -> None:
        """Have facts taken out of what was said. Raises ToolError, HermesError, and what mem0 raises."""
        with self._held(), self._open(models, said[-1]["content"]) as memory:
            memory.add([dict(one) for one in said], user_id=_WHOSE["user_id"], metadata=dict(about))

    def forget(self, memo_id: str) -> None:
        """Let go of one, and of the pages it stood on. Raises ToolError."""
        if not self._path.is_dir():
            return
        with self._held():
            made_by = self._made_by()
            if made_by is None:
                return
            with self._memory(made_by) as memory:  # opened once: to open it reads all there is
                if memory.get(memo_id) is None:
                    return
                memory.delete(memo_id)
            for file in self._path.rglob("*.sqlite"):
                with closing(sqlite3.connect(file)) as rows:
                    rows.execute("VACUUM")

    def erase(self) -> int:
        """Let go of all of it; how many there were. Raises ToolError."""
        if not self._path.is_dir():
            return 0
        with self._held():
            try:
                many = len(self._all(self._made_by()))
            except ToolError:
                many = 0  # what cannot be read any more goes too
            for one in sorted(self._path.rglob("*"), reverse=True):  # what is in a folder before the folder
                if one.is_dir() and not one.is_symlink():
                    one.rmdir()
                elif one != self._path / ".lock":
                    one.unlink(missing_ok=True)
            return many

    @contextmanager
    def _held(self) -> Iterator[None]:
        try:
            with held(self._path / ".lock", seconds=_PATIENCE):
                yield
        except Busy:
            text = f"Another process has held {self._path} for {_PATIENCE:.0f} seconds."
            raise ToolError(text, hint="Try again later; nothing was changed.") from None

    def _made_by(self) -> Mapping[str, Any] | None:
        """Return what is said of the vectors that are kept: ``model``, ``size`` and ``store``; None where none are."""
        try:
            told: Mapping[str, Any] = json.loads((self._path / "vectors.json").read_bytes())
            return {"model": str(told["model"]), "size": int(told["size"]), "store": str(told["store"])}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ToolError(f"{self._path}/vectors.json cannot be read: {error}", retry=False) from None

    def _all(self, made_by: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
        if made_by is None:
            return []
        with self._memory(made_by) as memory:
            return _listed(memory)

    @contextmanager
    def _open(self, models: Models, text: str) -> Iterator[Any]:
        """Open it for the model that answers now; where another one made what is kept, it is made anew first."""
        size = len(models.vectors([text])[0])
        made_by = self._made_by()
        wanted = {"model": models.model, "size": size}
        if made_by is None or {**made_by, **wanted} != made_by:
            made_by = self._anew(models, wanted, made_by)
        with self._memory(made_by, models) as memory:
            yield memory

    def _anew(self, models: Models, wanted: Mapping[str, Any], old: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Make the vectors of all that is kept by another model, beside the old ones, and go over to them at once."""
        stores = [one.name for one in self._path.glob("store-*")]
        number = max((int(name.removeprefix("store-")) for name in stores if name[6:].isdecimal()), default=0) + 1
        new = {**wanted, "store": f"store-{number}"}
        kept = self._all(old)
        with self._memory(new, models) as memory:
            vectors = models.vectors([str(one["memory"]) for one in kept])
            payloads = [
                {
                    "data": one["memory"],
                    "hash": one.get("hash"),
                    "created_at": one.get("created_at"),
                    "updated_at": one.get("updated_at"),
                    **(one.get("metadata") or {}),
                    **_WHOSE,
                }
                for one in kept
            ]
            if kept:
                memory.vector_store.insert(vectors=vectors, ids=[str(one["id"]) for one in kept], payloads=payloads)
        replace(self._path / "vectors.json", (json.dumps(new) + "\n").encode())
        for name in stores:
            shutil.rmtree(self._path / name, ignore_errors=True)
        return new

    @contextmanager
    def _memory(self, made_by: Mapping[str, Any], models: Models | None = None) -> Iterator[Any]:
        mem0 = _imported(self._path.parent)
        config = {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(self._path / made_by["store"]),
                    "on_disk": True,
                    "collection_name": "memories",
                    "embedding_model_dims": made_by["size"],
                },
            },
            "llm": {"provider": "openai", "config": {"api_key": "none: the kernel asks"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none: the kernel asks"}},
            "history_db_path": ":memory:",
        }
        memory = mem0.Memory.from_config(config)
        try:
            if models:
                memory.embedding_model, memory.llm = models.embedder(), models.llm()
            yield memory
        finally:
            memory.vector_store.client.close()
            memory.close()


def _listed(memory: Any) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = memory.get_all(filters=dict(_WHOSE), top_k=_ALL)["results"]
    return found


def _imported(folder: Path) -> Any:
    """Import mem0, which looks at the environment then: it tells its makers nothing, and keeps its notes here."""
    with _importing:
        before = {name: os.environ.get(name) for name in ("MEM0_TELEMETRY", "MEM0_DIR")}
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / ".mem0"))
        try:
            import mem0  # type: ignore[import-untyped]
        except ImportError as error:
            hint = "pip install 'hermes-memory-mem0'"
            raise ToolError(f"mem0 is not there: {error}", retry=False, hint=hint) from None
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        with suppress(AttributeError):
            logging.getLogger("mem0").setLevel(logging.ERROR)  # its notices are about its makers' services
        return mem0
