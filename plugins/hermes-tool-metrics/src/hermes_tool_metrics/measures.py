"""What is counted. No label holds an id, a person or a chat, and no label has more than a hundred values."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest

from hermes_core import __version__
from hermes_core.types import Fault, Request, Response, Session, ToolCall, TurnEnd

__all__ = ["MOST", "Measures"]

MOST = 100  # values of one label; what comes later is "other": a model can call tools that nobody has
_LONGEST = 80  # characters of a value
_MODEL_SECONDS = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256)
_TURN_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600)
_TOOL_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900)


class Measures:
    """The figures of one process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._values: dict[str, set[str]] = {}
        ProcessCollector(registry=registry)
        Info("hermes", "The Hermes that runs.", registry=registry).info({"version": __version__})
        who = ("provider", "model")
        self._running = Gauge("hermes_turns_running", "Turns that run now.", registry=registry)
        self._turns = Counter(
            "hermes_turns", "Turns that ended: done, failed, interrupted.", ("origin", "reason"), registry=registry
        )
        self._failures = Counter("hermes_turn_failures", "Failed turns, by why.", ("error",), registry=registry)
        self._turn_seconds = Histogram(
            "hermes_turn_seconds", "How long turns took.", ("origin",), buckets=_TURN_SECONDS, registry=registry
        )
        self._calls = Counter("hermes_model_calls", "Model calls that led to a reply.", who, registry=registry)
        self._tokens = Counter("hermes_model_tokens", "Tokens of model calls.", (*who, "kind"), registry=registry)
        self._cost = Counter(
            "hermes_model_cost_dollars", "What model calls cost, as far as it is known.", who, registry=registry
        )
        self._model_seconds = Histogram(
            "hermes_model_reply_seconds",
            "How long a reply took, with all tries.",
            who,
            buckets=_MODEL_SECONDS,
            registry=registry,
        )
        self._tools = Counter(
            "hermes_tool_calls", "Tool calls: ok, failed, refused, unknown.", ("tool", "outcome"), registry=registry
        )
        self._tool_seconds = Histogram(
            "hermes_tool_call_seconds", "How long tools ran.", ("tool",), buckets=_TOOL_SECONDS, registry=registry
        )
        self._faults = Counter("hermes_plugin_faults", "Failures of plugins.", ("plugin",), registry=registry)
        self._open: set[str] = set()

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry).decode()

    def began(self, session: Session) -> None:
        """A turn began."""
        self._open.add(session.turn)
        self._running.set(len(self._open))

    def ended(self, session: Session, end: TurnEnd) -> None:
        """A turn ended."""
        self._open.discard(session.turn)
        self._running.set(len(self._open))
        origin = self._bounded("origin", session.origin)
        self._turns.labels(origin, end.reason).inc()
        self._turn_seconds.labels(origin).observe(end.seconds)
        if end.reason == "failed":
            self._failures.labels(self._bounded("error", end.error or "unknown")).inc()

    def replied(self, session: Session, request: Request, response: Response, seconds: float) -> None:
        """A model replied; whoever really answered is counted, not who was asked first."""
        known = response.message.meta.get("hermes", {})
        provider = self._bounded("provider", str(known.get("provider") or session.provider))
        model = self._bounded("model", str(known.get("model") or request.model))
        used = response.usage
        self._calls.labels(provider, model).inc(max(used.calls, 1))
        self._model_seconds.labels(provider, model).observe(seconds)
        self._cost.labels(provider, model).inc(max(used.cost, 0.0))
        for kind in ("input", "output", "cache_read", "cache_write", "reasoning"):
            self._tokens.labels(provider, model, kind).inc(max(getattr(used, kind), 0))

    def ran(self, call: ToolCall, outcome: str, seconds: float) -> None:
        """A tool call is over."""
        tool = self._bounded("tool", call.name)
        self._tools.labels(tool, outcome).inc()
        if outcome != "refused":
            self._tool_seconds.labels(tool).observe(seconds)

    def failed(self, fault: Fault) -> None:
        """A plugin failed."""
        self._faults.labels(self._bounded("plugin", fault.plugin)).inc()

    def _bounded(self, label: str, value: str) -> str:
        known, value = self._values.setdefault(label, set()), value[:_LONGEST]
        if value not in known and len(known) >= MOST:
            return "other"
        known.add(value)
        return value
