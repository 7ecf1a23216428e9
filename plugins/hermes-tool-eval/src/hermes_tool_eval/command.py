"""``hermes eval``."""

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

if TYPE_CHECKING:
    import click

    from hermes_tool_eval.figures import Figures
    from hermes_tool_eval.playing import Row, Variant

__all__ = ["make_eval"]

_NAME = re.compile(r"[\w.-]{1,60}")


def make_eval(ctx: PluginContext) -> "click.Command":
    """The command."""
    import click

    from hermes_tables.tables import harmless, json_option

    file = click.Path(path_type=Path, dir_okay=False)

    @click.command("eval")
    @click.argument("cases", type=file)
    @click.option("--model", "models", multiple=True, metavar="[PROVIDER:]MODEL", help="Who answers; again to compare.")
    @click.option("--prompt", "prompts", multiple=True, type=file, help="A file added to the prompt; again to compare.")
    @click.option("--runs", type=click.IntRange(1, 1000), default=1, show_default=True, help="Runs of each case.")
    @click.option("--pass", "least", type=click.FloatRange(0, 1), default=1.0, show_default=True,
                  help="The share of runs of each that has to pass; else the exit status is 1.")  # fmt: skip
    @click.option("--name", default="", help="What the runs are found by; the name of the file if none is given.")
    @click.option("--at-once", type=click.IntRange(1, 100), default=4, show_default=True, help="Runs side by side.")
    @click.option("--money", type=click.FloatRange(0), default=0.0, help="US dollars that all turns may cost.")
    @click.option("--svg", type=file, help="Draw the figures into this file.")
    @json_option
    async def command(
        cases: Path, models: tuple[str, ...], prompts: tuple[Path, ...], runs: int, least: float, name: str,
        at_once: int, money: float, svg: Path | None, as_json: bool,
    ) -> int:  # fmt: skip
        """Run the cases of the file CASES, and say which passed.

        \b
        cases:
          - name: capital
            input: What is the capital of Norway? One word.
            expect: {contains: Oslo}

        A case may have `files`, `tools` (none if it names none), `system`. What is expected: equals, contains, lacks,
        regex, schema (of JSON), judge (a rubric, by the model of auxiliary.eval), files (what they hold in the end).

        What ran is kept: the same line again runs only what is left, what failed, and what was changed. Cases with
        files or tools work in folders below eval-NAME, and what would need a yes is refused there.
        """
        from hermes_tool_eval.cases import read_cases
        from hermes_tool_eval.figures import figures_of
        from hermes_tool_eval.judge import Judge
        from hermes_tool_eval.playing import Player

        name = name or cases.stem
        if not _NAME.fullmatch(name):
            raise UserError(f"{name!r} is no name for an eval.", hint="--name takes letters, digits, _, . and -.")
        read = await asyncio.to_thread(read_cases, cases)
        variants = await _variants(ctx, models, prompts)
        judge = Judge(ctx, name)
        folder = Path(os.path.abspath(f"eval-{name}"))  # noqa: PTH100 - no link is followed
        player = Player(ctx=ctx, name=name, folder=folder, at_once=at_once, money=money, judge=judge)

        def told(row: "Row") -> None:
            if not as_json and not row.again:
                said = "passed" if row.ok else f"failed: {row.error or row.why}"
                line = f"{row.variant}  {row.case}  run {row.run}  {said}"
                click.echo(harmless(line.replace("\n", " ")), err=True)

        rows = await player.play(read, variants, runs, told)
        figures = figures_of(rows)
        if svg:
            await asyncio.to_thread(_draw, svg, name, figures)
        _show(rows, figures, judge.cost, as_json=as_json)
        return 0 if all(one.share >= least for one in figures) else 1

    return command


async def _variants(ctx: PluginContext, models: Sequence[str], prompts: Sequence[Path]) -> "list[Variant]":
    """Give what is compared: each model with each prompt. Raises UserError."""
    from hermes_tool_eval.playing import Variant

    texts: dict[str, str] = {}
    for path in prompts:
        try:
            texts[path.name if path.name not in texts else str(path)] = await asyncio.to_thread(path.read_text, "utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path} cannot be read: {error}.") from error
    if not models:  # by its name, so that another one runs anew
        current = await ctx.models.current()
        models = [f"{current.provider}:{current.model.name}"]
    many = len(set(models)) > 1
    return [
        Variant(label=" ".join(filter(None, (model if many or not name else "", name))), model=model, system=text)
        for model in dict.fromkeys(models)
        for name, text in (texts or {"": ""}).items()
    ]


def _draw(path: Path, name: str, figures: "Sequence[Figures]") -> None:
    from hermes_atomic.whole import replace
    from hermes_tool_eval.plot import picture

    try:
        replace(path, picture(f"{name}: runs that passed", figures).encode(), mode=0o644, sync=False)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error


def _show(rows: "Sequence[Row]", figures: "Sequence[Figures]", judging: float, *, as_json: bool) -> None:
    import click
    from attrs import asdict

    from hermes_tables.tables import emit, harmless
    from hermes_tool_eval.figures import cells, compared

    if as_json:
        emit([asdict(row) for row in rows], (), as_json=True, empty="")
        return
    labels = [one.variant for one in figures]
    emit(cells(rows), ["case", *labels, "why"], as_json=False, empty="")
    click.echo()
    table = [
        {
            "variant": one.variant, "passed": f"{one.passed}/{one.runs}", "share": f"{one.share:.0%}",
            "likely": f"{one.low:.0%} to {one.high:.0%}", "score": f"{one.score:.2f}",
            "cost": f"${one.cost:.4f}" if one.priced else "unknown", "seconds": f"{one.seconds:.1f}",
        }
        for one in figures
    ]  # fmt: skip
    emit(table, ["variant", "passed", "share", "likely", "score", "cost", "seconds"], as_json=False, empty="")
    for other in labels[1:]:
        click.echo(harmless(compared(rows, labels[0], other)))
    if judging:
        click.echo(f"Judging cost ${judging:.4f}.")
