"""What passes between the kernel and a provider."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from attrs import Factory, field

from hermes_core.types.base import Feature, Meta, StopReason
from hermes_core.types.content import Blob, Message
from hermes_core.values import frozen


@frozen(kw_only=True)
class Model:
    """A model a provider offers. ``context`` and ``output`` are token limits, 0 when unknown."""

    name: str
    context: int = 0
    output: int = 0
    features: frozenset[Feature] = frozenset({Feature.TOOLS})


@frozen(kw_only=True)
class EndpointKey:
    """One key of several. ``source`` says where it comes from; ``value`` is empty while it is not set there."""

    source: str
    value: str = field(repr=False)


@frozen(kw_only=True)
class Endpoint:
    """Where the user says a provider is reached. Empty fields leave the provider's own default in force.

    ``keys`` are those a router has take turns, by its ``strategy``; ``api_key`` is the one to use.
    """

    name: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    protocol: str = ""  # "chat", "responses" or "messages"; empty: the provider chooses
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    extra_body: Meta = Factory(dict)
    context: int = 0
    timeout: float = 0.0  # seconds without a byte before a reply counts as stale; 0: the provider's default
    keys: Sequence[EndpointKey] = ()
    strategy: str = "fill_first"


@frozen(kw_only=True)
class ToolSpec:
    """A tool as a model sees it. ``schema`` is a JSON Schema object."""

    name: str
    description: str
    schema: Meta


@frozen(kw_only=True)
class Offer:
    """The tools of a conversation: those its models are told of, and those behind them.

    ``tools`` are told, in this order. ``behind`` are not: a model calls one through ``tool_call`` once it knows the
    name. ``toolsets`` says to which set each belongs, ``why`` what keeps one behind. ``sent`` holds what was told
    before, empty in a new conversation. ``context`` is how many tokens fit into the model, 0 when nobody knows.
    """

    tools: Sequence[ToolSpec]
    behind: Sequence[ToolSpec] = ()
    toolsets: Mapping[str, str] = Factory(dict)
    why: Mapping[str, str] = Factory(dict)
    sent: Sequence[ToolSpec] = ()
    context: int = 0


@frozen(kw_only=True)
class Request:
    """One model call. The prompt is ``messages[0]`` with role ``system``.

    ``options`` uses these keys: ``max_tokens``, ``temperature``, ``effort``. Unknown keys are ignored.
    ``context`` is how many tokens fit into the model, 0 when nobody knows. After a model said that a request did not
    fit, the hook ``pre_llm_call`` sees the same request with a smaller one.
    """

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    options: Meta = Factory(dict)
    context: int = 0


@frozen(kw_only=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@frozen(kw_only=True)
class ReasoningDelta:
    """A piece of the model's thinking."""

    text: str
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class CallDelta:
    """A piece of the ``index``-th tool call; ``arguments`` is a fragment of JSON text to be joined."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class Usage:
    """Tokens and money of one or more model calls. ``input`` counts cached tokens too.

    ``priced`` says how ``cost`` is known: ``actual`` when the service said it or charges nothing, ``estimated`` from a
    list of prices, empty when nobody knows; of several calls it is the weakest.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: float = 0.0
    calls: int = 0
    priced: Literal["", "estimated", "actual"] = ""


@frozen(kw_only=True)
class Price:
    """What a model costs, in US dollars for a million tokens. Cached tokens cost as much as others unless said."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@frozen(kw_only=True)
class UsageDelta:
    """What the call has used so far; the last one counts."""

    usage: Usage


@frozen(kw_only=True)
class Done:
    """The end of a stream; exactly one, last. ``meta`` becomes the stored message's ``meta``."""

    reason: StopReason
    meta: Meta = Factory(dict)


Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta | UsageDelta | Done


@frozen(kw_only=True)
class Response:
    """A whole reply, assembled from a stream."""

    message: Message
    reason: StopReason
    usage: Usage


MediaVerb: TypeAlias = Literal["embed", "see", "draw", "speak", "transcribe"]


@frozen(kw_only=True)
class MediaRequest:
    """A call of a model that is no conversation. An empty ``model`` is the provider's own for what is asked.

    ``texts`` are what to embed or speak, or the words to what is to be seen or drawn; ``blobs`` what to see, transcribe
    or draw from. ``options`` uses these keys: ``dimensions``, ``language``, ``voice``, ``size``. Unknown keys are
    ignored.
    """

    model: str = ""
    texts: Sequence[str] = ()
    blobs: Sequence[Blob] = ()
    options: Meta = Factory(dict)


@frozen(kw_only=True)
class MediaResponse:
    """What came of it, from which ``model``.

    There are ``vectors`` for embed, one for each text; one of ``texts`` for see, and for transcribe one for each blob;
    ``blobs`` for draw and speak.
    """

    model: str
    texts: Sequence[str] = ()
    blobs: Sequence[Blob] = ()
    vectors: Sequence[Sequence[float]] = ()
    usage: Usage = Factory(Usage)
