"""The kernel's own settings. Imported on every start: few classes, no logic."""

from typing import Any, Literal

from attrs.validators import optional

from hermes_core.options import Secret, ge, gt, min_len, option, settings
from hermes_core.platforms import PlatformSettings
from hermes_core.types.base import JSON

PLUGIN_SPACES = ("platforms", "tools", "backends", "memories")  # their children are plugins' sections
OPEN = ("agent",)  # sections of the kernel whose rest is a plugin's
VERSION = 1

ProtocolName = Literal["", "chat", "responses", "messages"]
PROTOCOLS = {"chat_completions": "chat", "codex_responses": "responses", "anthropic_messages": "messages"}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]


def _known_version(_instance: Any, _attribute: Any, value: int) -> None:
    if value != VERSION:
        raise ValueError(f"this Hermes reads version {VERSION} of the file, not {value}")


def _rules(_instance: Any, _attribute: Any, value: list[str]) -> None:
    for rule in value:
        name, bracket, pattern = rule.partition("(")
        if not name or name != "".join(name.split()) or ")" in name or (bracket and not pattern.endswith(")")):
            raise ValueError(f"{rule!r} can match nothing; a rule is TOOL or TOOL(PATTERN), such as terminal(git *)")


def _references(_instance: Any, _attribute: Any, value: dict[str, str]) -> None:
    from hermes_core.config.secrets import unfit  # hardly anybody needs it

    for name, place in value.items():
        if error := unfit(name):
            raise ValueError(error.text)
        if not all(place.partition(":")) or place.startswith("env:"):
            raise ValueError(f"{name} must be SOURCE:REFERENCE, such as op://Vault/Item/field")


@settings
class ModelSettings:
    """Which model answers, and how it is asked."""

    provider: str = option("Who answers; empty chooses the first provider that is ready.", default="")
    default: str = option("The model's name; empty takes the provider's own choice.", default="")
    base_url: str = option("Where the provider is reached.", default="", example="http://127.0.0.1:8000/v1")
    api_key: Secret = option("The key, or a reference such as env:OPENAI_API_KEY.", default=Secret(""))
    protocol: ProtocolName = option("The protocol to speak; empty lets the provider choose.", default="")
    context_length: int = option("Tokens that fit into the model; 0 asks the provider.", default=0, validator=ge(0))
    max_tokens: int = option("The longest reply in tokens; 0 sets no limit.", default=0, validator=ge(0))
    temperature: float | None = option(
        "How freely words are chosen; empty leaves it to the provider.", default=None, validator=optional(ge(0))
    )
    effort: Effort = option("How hard a reasoning model thinks; empty leaves it to the provider.", default="")
    efforts: dict[str, Effort] = option("The same for single models, by name.", factory=dict)


@settings
class EndpointSettings:
    """Where one provider is reached."""

    base_url: str = option("Its address.", default="", example="https://llm.example.org/v1")
    api_key: Secret = option("The key, or a reference such as env:ACME_API_KEY.", default=Secret(""))
    key_env: str = option("The name of the secret that holds the key.", default="")
    keys: list[Secret] = option("Several keys that take turns.", factory=list, example=["env:ACME_KEY_1"])
    strategy: Literal["fill_first", "round_robin", "random", "least_used"] = option(
        "Which of several keys is used: the first that works, or another each time.", default="fill_first"
    )
    protocol: ProtocolName = option("The protocol it speaks; empty lets the provider choose.", default="")
    headers: dict[str, Secret] = option("Headers sent with every request.", factory=dict)
    extra_body: dict[str, JSON] = option("Fields added to every request's body.", factory=dict)
    context_length: int = option("Tokens that fit into its models; 0 asks it.", default=0, validator=ge(0))
    timeout: float = option("Seconds without a byte before a reply is stale; 0: its own.", default=0.0, validator=ge(0))
    like: str = option("The provider whose protocol a new name speaks.", default="custom")


@settings
class FallbackSettings:
    """A model that answers in another's place. An empty provider, or ``auto``, is the main model's."""

    provider: str = option("Who answers.", default="")
    model: str = option("The model's name; empty takes the provider's own choice.", default="")
    base_url: str = option("Where it is reached.", default="", example="http://127.0.0.1:8000/v1")
    api_key: Secret = option("The key, or a reference such as env:ACME_API_KEY.", default=Secret(""))
    key_env: str = option("The name of the secret that holds the key.", default="")
    effort: Effort = option("How hard it thinks; empty as for the main model.", default="")


@settings
class AuxiliarySettings(FallbackSettings):
    """Which model does a task beside the conversation."""

    timeout: float = option("Seconds for one answer; compression and media get 300.", default=30.0, validator=gt(0))
    fallback: list[FallbackSettings] = option("Who is asked when it fails, before the main model.", factory=list)


@settings
class AgentSettings:
    """How a turn is run."""

    max_calls: int = option(
        "Model calls in one turn at most, where budget.turn.calls does not say it.", default=90, validator=ge(1)
    )
    model_tries: int = option("How often one request is sent to one model at most.", default=3, validator=ge(1))
    backoff_seconds: float = option("The longest first pause between tries; it doubles.", default=2.0, validator=ge(0))
    backoff_cap: float = option("The longest pause between tries.", default=60.0, validator=ge(0))
    longest_wait: float = option(
        "Seconds a provider may ask to wait; a longer wait is told, or another model asked.",
        default=600.0,
        validator=ge(0),
    )
    tool_workers: int = option("Tool calls that run side by side at most.", default=8, validator=ge(1))
    tool_seconds: float = option("How long a tool call may take.", default=420.0, validator=gt(0))
    output_bytes: int = option("Bytes of a tool's output the model sees.", default=50_000, validator=ge(1))
    busy: Literal["queue", "steer", "interrupt"] = option(
        "What is typed while a turn runs: queue waits for its end, steer reaches the model with the next tool result, "
        "interrupt stops the turn.",
        default="queue",
    )
    identity: str = option("Who the assistant is; the first words of the prompt.", default="")
    disabled_tools: list[str] = option("Tools that are never offered.", factory=list)
    disabled_on: dict[str, list[str]] = option(
        "Tools that are not offered on one platform, by its name; for conversations that begin from then on.",
        factory=dict,
        example={"telegram": ["terminal"]},
    )


# Of each section of these spaces, and of the open ones: what the kernel reads there itself; the rest is a plugin's.
KERNEL_KEYS = {
    "platforms": tuple(PlatformSettings.__annotations__),
    "providers": (*EndpointSettings.__annotations__, "wire", "api_mode"),
    "agent": tuple(AgentSettings.__annotations__),
}


@settings
class TerminalSettings:
    """Where commands run."""

    backend: str = option("The backend that runs commands.", default="local")
    cwd: str = option("The folder commands start in; empty: where Hermes was started.", default="")


@settings
class PolicySettings:
    """What may be done without asking."""

    mode: Literal["ask", "smart", "off"] = option(
        "ask: a person decides what is risky; smart: auxiliary.approval looks at commands first; off: hard blocks, "
        "deny rules and refusals of plugins stay.",
        default="ask",
    )
    ask_seconds: float = option(
        "Seconds a question waits for an answer before it is a no.", default=300.0, validator=gt(0)
    )
    deny: list[str] = option(
        "Calls that are always refused.", factory=list, example=["terminal(rm *)"], validator=_rules
    )
    allow: list[str] = option(
        "Calls that are never asked about.", factory=list, example=["terminal(git status)"], validator=_rules
    )
    trusted_hosts: list[str] = option(
        "Hosts whose pages are not taken for text from outside; only those where nobody else can write.",
        factory=list,
        example=["docs.example.org", "*.corp.example"],
    )


@settings
class SecuritySettings:
    """What tools may reach, and what texts may hold."""

    redact_secrets: bool = option(
        "Mask secrets in logs, tool output and errors; read once, at the start.", default=True
    )
    allow_private_urls: bool = option(
        "Open URLs of this machine and of private networks too; where clouds keep keys stays closed.", default=False
    )
    blocked_sites: list[str] = option(
        "Sites that are never opened: a name, with all below it, or a pattern; a path may follow.",
        factory=list,
        example=["ads.example.org", "*.example.com/private/*"],
    )


@settings
class SecretsSettings:
    """Where secrets come from that are kept elsewhere: sources of plugins, each by its name."""

    env: dict[str, str] = option(
        "Which secret is read where: SOURCE:REFERENCE, by the name of its variable.",
        factory=dict,
        example={"OPENAI_API_KEY": "pass:hermes/openai"},
        validator=_references,
    )
    bulk: list[str] = option(
        "Sources that give whatever they have, where nobody else has it; the first that has it counts.",
        factory=list,
        example=["bws"],
    )
    cache_ttl_seconds: float = option("Seconds after which one is asked again.", default=300.0, validator=ge(0))
    timeout_seconds: float = option("Seconds that one has to answer.", default=10.0, validator=gt(0))


@settings
class DisplaySettings:
    """What is shown."""

    interface: str = option(
        "What a bare `hermes` opens: auto (the full screen where the terminal can, else line by line), tui, cli, "
        "or another platform.",
        default="auto",
    )
    confirm_commands: bool = option("Ask before a slash command takes something away.", default=True)


@settings
class QuickSettings:
    """A slash command of your own."""

    type: Literal["exec", "alias"] = option("exec runs a shell command, alias another slash command.", default="exec")
    command: str = option("What is run: `git status -sb`, or `/model local:small`.", validator=min_len(1))


@settings
class StoreSettings:
    """Where sessions are kept."""

    url: Secret = option(
        "A PostgreSQL address, or a reference such as env:STORE_URL; empty keeps them in the home folder.",
        default=Secret(""),
    )
    durability: Literal["normal", "full"] = option(
        "What is survived: process death, or power loss. A server decides this itself.", default="normal"
    )


@settings
class WorkerSettings:
    """Who plays the turns that the gateway takes in."""

    queue: str = option(
        "Who hands out turns: local, or a plugin's queue for several machines, such as procrastinate.", default="local"
    )
    count: int = option("Turns that one process plays side by side at most.", default=256, validator=ge(1))
    poll_seconds: float = option(
        "Seconds between two looks for turns that nobody plays, such as those of a machine that died.",
        default=5.0,
        validator=gt(0),
    )


@settings
class MemorySettings:
    """What lasts across sessions."""

    provider: str = option("The memory in use; empty: none.", default="files")


@settings
class PluginSettings:
    """In which order plugins are asked."""

    order: list[str] = option("Plugins that come first, in this order.", factory=list)


@settings
class LoggingSettings:
    """What is written to the log files."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = option("The least that is written.", default="INFO")
    max_size_mb: int = option("Megabytes before a file is put aside.", default=5, validator=ge(1))
    backup_count: int = option("How many old files are kept.", default=3, validator=ge(0))


@settings
class PrivacySettings:
    """What is told of people."""

    redact_pii: bool = option("Replace what tells people in logs, and in what hosted models are sent.", default=False)


@settings
class Config:
    """The settings of the kernel; plugins' sections live beside them."""

    version: int = option("The version of this file's layout.", default=VERSION, validator=_known_version)
    model: ModelSettings = option("Which model answers; a bare name will do.", factory=ModelSettings)
    providers: dict[str, EndpointSettings] = option("Where providers are reached, by name.", factory=dict)
    fallback_providers: list[FallbackSettings] = option("Who answers when the model cannot, in order.", factory=list)
    auxiliary: dict[str, AuxiliarySettings] = option("Models for tasks beside the conversation.", factory=dict)
    toolsets: list[str] = option("The toolsets on offer; empty: all.", factory=list)
    agent: AgentSettings = option("How a turn is run.", factory=AgentSettings)
    terminal: TerminalSettings = option("Where commands run.", factory=TerminalSettings)
    policy: PolicySettings = option("What may be done without asking.", factory=PolicySettings)
    security: SecuritySettings = option("What tools may reach, and what texts may hold.", factory=SecuritySettings)
    secrets: SecretsSettings = option("Where secrets are kept elsewhere.", factory=SecretsSettings)
    display: DisplaySettings = option("What is shown.", factory=DisplaySettings)
    quick_commands: dict[str, QuickSettings] = option("Slash commands of your own, by name.", factory=dict)
    store: StoreSettings = option("Where sessions are kept.", factory=StoreSettings)
    workers: WorkerSettings = option("Who plays the turns.", factory=WorkerSettings)
    memory: MemorySettings = option("What lasts across sessions.", factory=MemorySettings)
    plugins: PluginSettings = option("In which order plugins are asked.", factory=PluginSettings)
    privacy: PrivacySettings = option("What is told of people.", factory=PrivacySettings)
    logging: LoggingSettings = option("What is written to the log files.", factory=LoggingSettings)
