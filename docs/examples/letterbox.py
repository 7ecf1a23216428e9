"""Answers letters that people put into a folder: a host of a few lines. Kill it where you like, and start it again."""

# /// hermes
# api = 1
# name = "letterbox"
# kind = "tool"
# summary = "Answers letters in a folder."
# [commands.letterbox]
# summary = "Answer the letters in a folder: PERSON.NUMBER.txt."
#
# [permissions]
# kernel = ["host.serve", "turns.run"]
# ///

from pathlib import Path

from hermes_core import hookimpl
from hermes_core.types import Command, Ended, Envelope, Message, Principal, Text, TurnOrder


async def hear(ctx, letter):
    """Let a letter wait for its answer: once, however often it is seen. The session that it is in, and whose it is."""
    sender = letter.name.partition(".")[0]
    owner, session = Principal(person=f"letters:{sender}"), f"letters-{sender}"
    said = Message(role="user", parts=(Text(text=letter.read_text()),))
    where = {"platform": "letters", "account": "box", "chat": sender}
    envelope = Envelope(**where, sender=sender, event_id=letter.name, message=said)
    await ctx.turns.take_up(session, owner=owner, origin="letters")
    await ctx.turns.queue(envelope, owner=owner, order=TurnOrder(session=session))
    return session, owner


async def play(ctx, session, owner, folder):
    """Finish the turn that a death cut off, then play what waits."""
    waits = ctx.host.turns
    for only, letters in (("cut", [await waits.cut(session)]), ("waiting", await waits.waiting(session))):
        for letter in filter(None, letters):
            async for event in ctx.turns.resume(session, owner=owner, only=only):
                if isinstance(event, Ended):
                    (folder / letter.envelope.event_id).with_suffix(".answer").write_text(event.answer)


def make_letterbox(ctx):
    import click

    @click.command()
    @click.argument("folder", type=click.Path(path_type=Path, exists=True))
    async def command(folder):
        """Answer the letters in FOLDER."""
        await ctx.host.start()
        for letter in sorted(folder.glob("*.txt")):
            await play(ctx, *await hear(ctx, letter), folder)

    return command


@hookimpl
def register_cli_commands(ctx):
    return [Command(name="letterbox", build=lambda: make_letterbox(ctx))]
