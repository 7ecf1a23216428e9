"""How things are: the conversation, who speaks in it, what was spent."""

import time

from hermes_core.context import PluginContext
from hermes_core.types import Session, SessionRow, UsageRow
from hermes_tool_commands.message_path import TraceStep, steps, verdict

_DAYS = 365  # for which it is looked up whether a model has a price


async def status(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Say how the conversation is."""
    here = ctx.conversation(session)
    state = await here.state()
    lines = [
        f"Conversation: {session.id} {session.title}".rstrip(),
        f"Model: {state.model} from {state.provider}",
        f"Mode: {state.mode}",
        f"Now: {'working' if state.working else 'idle'}, {state.waiting} waiting",
        *state.services,
    ]
    if state.wall:
        lacks = f" (not kept: {'; '.join(state.wall.missing)})" if state.wall.missing else ""
        lines.append(f"Wall around commands: {state.wall.name}{lacks}")
    if here.place != "chat":
        lines += [f"Effort: {state.effort or 'as the provider likes'}", f"Folder: {session.cwd}"]
    return "\n".join(lines)


async def whoami(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Say who types, and what they may do."""
    here = ctx.conversation(session)
    rights = here.rights()
    who = f"You are {here.who}." + ("" if here.place == "chat" else f" Permission mode: {here.mode()}.")
    may = [f"Your role: {rights.role}.", *rights.words] if rights.words else []
    return "\n".join(filter(None, [who, *may, rights.refused]))


async def why(ctx: PluginContext, session: Session, rest: str) -> str:
    """Say what became of a message of the person's: a line for each step, then how it stands."""
    found = await ctx.sessions.traces(session.owner, rest or "latest")
    if not found:
        return f"No message of yours is named {rest!r}." if rest else "You have said nothing yet."
    trace = found[0]
    name = trace.trace or str(next((turn["id"] for turn in trace.turns if isinstance(turn, dict)), ""))
    taken = (f"    {_clock(one.at)}  {_step(one)}" for one in steps(trace))
    return "\n".join([f"Message {name}", *taken, verdict(trace, ctx.program)[1]])


def _step(step: TraceStep) -> str:
    took = f" [{step.seconds:.1f} s]" if step.seconds else ""
    return f"{step.step}: {step.what}{took}{f' - {step.outcome}' if step.outcome else ''}"


def _clock(at: float) -> str:
    """A time of day, local, with thousandths."""
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"


async def usage(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Say what the session used, and what is left of its budgets."""
    rows = await ctx.sessions.rows(session.owner, limit=1000)
    row = next((r for r in rows if r.session.id == session.id), None)
    if row is None:
        return "Nothing used yet."
    used = row.usage
    cached = f" ({100 * used.cache_read // used.input} % from the cache)" if used.input and used.cache_read else ""
    cost = f", ${used.cost:.4f}" if used.cost else ", no price" if used.calls and await _unpriced(ctx, row) else ""
    left = await ctx.conversation(session).budget()
    rest = "".join(f"\nLeft of budget.{name}: {amount:,.4g}" for name, amount in left.items())
    return f"{used.calls} model calls, {used.input:,} tokens in{cached}, {used.output:,} out{cost}.{rest}"


async def _unpriced(ctx: PluginContext, row: SessionRow) -> bool:
    """Whether nobody knows what the model of a session costs."""
    used = await ctx.sessions.usage(row.session.owner, days=_DAYS)
    return any(one.unpriced for one in used if one.model == row.session.model)


async def insights(ctx: PluginContext, session: Session, rest: str) -> str:
    """Say what the last days used, by model, the dearest first."""
    days = int(rest) if rest.isdecimal() and 0 < int(rest) < 4000 else 30
    used: dict[str, list[UsageRow]] = {}
    for row in await ctx.sessions.usage(session.owner, days=days):
        used.setdefault(f"{row.model} from {row.provider}", []).append(row)
    if not used:
        return f"Nothing was used in {days} days."
    most = sorted(used.items(), key=lambda item: -sum(one.usage.cost for one in item[1]))
    return "\n".join([f"In the last {days} days:", *(_line(name, rows) for name, rows in most)])


def _line(name: str, rows: list[UsageRow]) -> str:
    calls, came, went = (sum(getattr(one.usage, what) for one in rows) for what in ("calls", "input", "output"))
    unknown = sum(one.unpriced for one in rows)
    cost = f"${sum(one.usage.cost for one in rows):.4f}" if unknown < calls else ""
    without = f"{unknown:,} calls without a price" if cost and unknown else "no price" if unknown else ""
    return f"    {name}: {calls:,} calls, {came:,} in, {went:,} out, {' and '.join(filter(None, (cost, without)))}"
