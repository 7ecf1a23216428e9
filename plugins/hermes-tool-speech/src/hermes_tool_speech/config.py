"""Settings of the plugin."""

from hermes_core import option, settings
from hermes_core.options import ge, le
from hermes_core.types import JSON

__all__ = ["Config"]

_KEYS = frozenset({"speak", "hear", "reads", "voice", "seconds"})


def _are_programs(_instance: object, _field: object, value: dict[str, JSON]) -> None:
    for name, one in value.items():
        if not isinstance(one, dict) or not one.keys() <= _KEYS or not {"speak", "hear"} & one.keys():
            raise ValueError(f"{name}: give `speak` or `hear`, a list of words, and besides only {', '.join(_KEYS)}")
        for key in ("speak", "hear", "reads"):
            words = one.get(key, [])
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise ValueError(f"{name}: `{key}` is a list of texts")


@settings
class Config:
    """Voice notes and spoken answers."""

    write_down: bool = option("Write voice notes down before a model answers them.", default=True)
    echo: bool = option("Say what was understood of a voice note.", default=False)
    language: str = option("The language of voice notes, such as en or ko; empty: the model finds out.", default="")
    voice: str = option("The voice to speak with; empty: the model's own.", default="")
    speak_with: str = option(
        "Who speaks: a service, `espeak-ng`, or one of `programs`; empty: the model of auxiliary.speak.",
        default="",
        example="espeak-ng",
    )
    hear_with: str = option(
        "Who writes down: a service, `faster-whisper`, or one of `programs`; empty: the model of auxiliary.transcribe.",
        default="",
        example="elevenlabs",
    )
    model: str = option("The model of the service; empty: its usual one.", default="")
    service_url: str = option("Address of the service, where it is not its usual one.", default="")
    whisper: str = option("The folder of the model for faster-whisper.", default="", example="~/models/whisper-base")
    programs: dict[str, JSON] = option(
        "Programs that speak or hear, by name: their words, with {text}, {input}, {output}, {voice}, {language}.",
        factory=dict,
        example={"piper": {"speak": ["piper", "-m", "/opt/voice.onnx", "-i", "{text}", "-f", "{output}"]}},
        validator=_are_programs,
    )
    microphone: str = option(
        "What `/talk` listens to: a name of an input device, or a .wav file; empty: the usual one.", default=""
    )
    recorder: list[str] = option(
        "The program that writes what is heard to its output: one channel, 16 bits, 16,000 samples a second.",
        factory=list,
        example=["parec", "--raw", "--rate=16000", "--channels=1", "--format=s16le", "--latency-msec=32"],
    )
    voices: bool = option(
        "Tell voices from noise by a small model, where it is installed; else by loudness alone.", default=True
    )
    silence: float = option(
        "Seconds of silence after which `/talk` stops listening.", default=2.0, validator=[ge(0.3), le(30)]
    )
    threshold: int = option(
        "How loud speech is at least, of 32,767; what is less is silence.",
        default=200,
        validator=[ge(1), le(30_000)],
    )
    player: list[str] = option(
        "The program that plays what is said in `/talk on`, with {input}; empty: the usual loudspeaker.",
        factory=list,
        example=["paplay", "{input}"],
    )
    barge_in: bool = option(
        "Let speech cut off what is being said in `/talk on`; else only a key does. Headphones help.", default=True
    )
    seconds: int = option("The longest that speaking or hearing may take.", default=120, validator=[ge(1), le(280)])
