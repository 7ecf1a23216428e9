"""The settings under ``platforms.api``."""

from hermes_core.options import ge, le, min_len, option, settings

__all__ = ["Config"]


@settings
class Config:
    """The HTTP API."""

    host: str = option(
        "The address to listen on. Anything but loopback can be reached by others: put TLS in front of it.",
        default="127.0.0.1",
        validator=min_len(1),
    )
    port: int = option("The port to listen on; 0 takes a free one.", default=8642, validator=[ge(0), le(65535)])
    model_name: str = option("What the agent is called in /v1/models.", default="hermes", validator=min_len(1))
    models: dict[str, str] = option(
        "More names clients may ask for, each with the `provider:model` that answers.",
        factory=dict,
        example={"fast": "openai:gpt-5-mini"},
    )
    keys: dict[str, str] = option(
        "Keys of other people: the name of the secret (API_SERVER_KEY_…), and the person it stands for. "
        "API_SERVER_KEY itself is the owner's.",
        factory=dict,
        example={"API_SERVER_KEY_ALICE": "alice"},
    )
    origins: list[str] = option(
        "Web pages that may call it from a browser (CORS), such as https://chat.example.org; none unless listed.",
        factory=list,
    )
    hosts: list[str] = option(
        "Host names it answers to besides loopback's, when it listens there behind a proxy.", factory=list
    )
    max_turns: int = option(
        "How many turns may run at once; beyond, clients are told to come again. Where others have keys, nobody takes "
        "the last one beside all others.",
        default=10,
        validator=ge(1),
    )
    max_connections: int = option(
        "How many connections may be open at once; beyond, those that send nothing are closed first. The system may "
        "allow fewer.",
        default=500,
        validator=ge(1),
    )
    keep_alive_seconds: float = option(
        "After how much silence a stream gets a comment, so that no proxy cuts it.", default=30.0, validator=ge(0.1)
    )
    client_tool_seconds: float = option(
        "How long a turn waits for what a client's own tools give; then it is stopped.", default=600.0, validator=ge(1)
    )
    drain_seconds: float = option(
        "How long turns may run on when the server stops; what runs then goes on at the next start.",
        default=8.0,
        validator=ge(0),
    )
    run_seconds: float = option(
        "How long the events of a finished run can still be read.", default=300.0, validator=ge(0)
    )
