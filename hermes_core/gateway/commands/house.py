"""Slash commands about the program: its settings, tools, plugins and versions."""

import platform
import sys

from hermes_core import __version__
from hermes_core.agent.offering import hidden
from hermes_core.errors import UnknownName, UserError
from hermes_core.gateway.commands.deck import Room
from hermes_core.types import Session

__all__ = ["House"]


class House(Room):
    """What people see and change of the program."""

    async def tools(self, session: Session, rest: str) -> str:
        runtime, (verb, *names) = self._runtime, rest.split() or [""]
        if verb in ("enable", "disable") and names:
            known = runtime.toolbox().names
            for name in names:
                if name not in known:
                    raise UnknownName("tool", name, known)
            on = runtime.settings.config.agent.disabled_on
            off = set(on.get(session.origin, ()))
            off = off - set(names) if verb == "enable" else off | set(names)
            await self._deck.write(f"agent.disabled_on.{session.origin}", f"[{', '.join(sorted(off))}]")
            done = "offered again" if verb == "enable" else "offered no more"
            return f"{', '.join(names)}: {done} on {session.origin}, in conversations that begin from now on."
        if verb:
            raise UserError("Write /tools, /tools enable NAME or /tools disable NAME.")
        kept = await hidden(runtime, session)
        offered = (t for t in runtime.toolbox().offered(session).values() if t.name not in kept)
        lines = [f"    {t.name:<16}{t.description.splitlines()[0]}" for t in offered]
        lines += [f"    {name:<16}(hidden: {why})" for name, why in sorted(kept.items())]
        off = set(runtime.settings.config.agent.disabled_on.get(session.origin, ()))
        return (
            "\n".join([*lines, *(f"    {name:<16}(switched off here)" for name in sorted(off))])
            or "No tool is offered."
        )

    async def toolsets(self, _session: Session, _rest: str) -> str:
        groups: dict[str, list[str]] = {}
        for tool in self._runtime.toolbox().tools:
            groups.setdefault(tool.toolset, []).append(tool.name)
        return "\n".join(f"    {name:<12}{', '.join(found)}" for name, found in sorted(groups.items())) or "No tool."

    async def config(self, _session: Session, rest: str) -> str:
        from hermes_core.agent.settings import HomeSettings

        key, _, text = rest.partition(" ")
        if text.strip():
            return await self._deck.write(key, text.strip())
        rows = await HomeSettings(self._runtime, lambda: None).list()
        if not key:
            lines = [f"    {r.key} = {'(secret)' if r.secret else r.value}" for r in rows if r.written]
            return "\n".join([*lines, "/config KEY shows one, /config KEY VALUE sets it."])
        within = [r for r in rows if r.key == key or r.key.startswith(f"{key}.")]
        if not within:
            raise UnknownName("setting", key, [r.key for r in rows])
        if len(within) > 1:
            return "\n".join(f"    {r.key} = {'(secret)' if r.secret else r.value}" for r in within)
        row = within[0]
        locked = "\n    locked by whoever made this program" if row.locked else ""
        value = "(secret)" if row.secret else row.value
        return f"{row.key} = {value}\n    {row.help}\n    {row.type}; default: {row.default}{locked}"

    async def reload(self, _session: Session, _rest: str) -> str:
        self._deck.need_person(admin=True)
        later = self._runtime.reread()
        told = f" These need a new start: {', '.join(later)}." if later else ""
        return f"Settings and secrets were read again.{told} So do plugins that were installed, changed or enabled."

    async def plugins(self, _session: Session, _rest: str) -> str:
        broken = {fault.plugin: f"failed: {fault.error}" for fault in self._runtime.dispatch.faults}
        loaded, lines = self._runtime.loader.loaded, []
        for one in self._runtime.index.plugins:
            state = broken.get(one.label, "at work" if one.label in loaded else "not needed yet, or not enabled")
            lines.append(f"    {one.label:<28}{one.version:<10}{state}")
        return "\n".join(lines) or "No plugin is installed."

    async def profile(self, _session: Session, _rest: str) -> str:
        home = self._runtime.home
        return f"Profile {home.profile}, in {home.root}. Another one: {home.brand} -p NAME."

    async def pair(self, session: Session, rest: str) -> str:
        from hermes_core.gateway.people.pairing import approve

        if not rest:
            raise UserError("Say the code that they were given: /pair CODE")
        owner, store = session.owner, await self._runtime.store()
        known = await approve(store, rest, by=owner.person, where=session.origin, profile=owner.profile)
        return f"{known.name or known.sender} on {known.platform} may talk to me now."

    async def version(self, _session: Session, _rest: str) -> str:
        return f"{self._runtime.home.brand} {__version__}, Python {platform.python_version()}"

    async def debug(self, session: Session, _rest: str) -> str:
        runtime, route = self._runtime, await self._runtime.routed()
        lines = [
            f"{await self.version(session, _rest)}, {sys.platform} {platform.machine()}",
            f"home: {runtime.home.root}",
            f"store: {(await runtime.store()).place}",
            f"session: {session.id} on {session.origin}, backend {session.backend}",
            f"model: {route.label}",
            f"window: {runtime.router.window(route) or 'unknown'} tokens",
            f"plugins: {', '.join(sorted(runtime.loader.loaded))}",
            *(f"fault: {one.plugin} ({one.phase}): {one.error}" for one in runtime.dispatch.faults),
        ]
        return runtime.settings.masks.text("\n".join(lines))
