"""The command: `python -m reproduce [NAMES]`."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reproduce import (
    dot_products,
    foundations_data,
    foundations_planted,
    given,
    queries,
    report,
    revenue_data,
    revenue_planted,
)
from reproduce.framework import Cache, Cell, Experiment, undone

#: All papers' experiments.
EXPERIMENTS: tuple[Experiment, ...] = (
    *dot_products.EXPERIMENTS,
    *foundations_planted.EXPERIMENTS,
    *foundations_data.EXPERIMENTS,
    *revenue_planted.EXPERIMENTS,
    *revenue_data.EXPERIMENTS,
    *queries.EXPERIMENTS,
)


def chosen(names: tuple[str, ...]) -> list[Experiment]:
    """Experiments by full name ("dot/table1"), by paper ("dot") or by what they are ("table1")."""
    if not names:
        return list(EXPERIMENTS)
    for name in names:
        if not any(_fits(experiment, name) for experiment in EXPERIMENTS):
            known = ", ".join(experiment.name for experiment in EXPERIMENTS)
            raise click.BadParameter(f"there is no {name!r}; there are {known}")
    return [e for e in EXPERIMENTS if any(_fits(e, name) for name in names)]


def _fits(experiment: Experiment, name: str) -> bool:
    return name == experiment.name or name in experiment.name.split("/")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="Say what there is, and what can't be run and why.")
@click.option("--quick", is_flag=True, help="A smoke run: small data, one seed.")
@click.option("--seeds", type=click.IntRange(1), help="Seeds for each number, instead of the default.")
@click.option("--only", default="", help="Only cells whose labels contain this text, such as a data set.")
@click.option(
    "--data",
    multiple=True,
    metavar="NAME=PATH",
    help=" ".join(f"{short}=PATH: {what}." for short, what in given.FORMATS.values()) + " Repeatable.",
)
@click.option("--output", type=click.Path(path_type=Path), default=Path("reproduction"), show_default=True)
def main(
    names: tuple[str, ...],
    listing: bool,
    quick: bool,
    seeds: int | None,
    only: str,
    data: tuple[str, ...],
    output: Path,
) -> None:
    """Repeat tables and figures of the papers: by default all, else those named ("table1", "dot").

    Results are kept in the output folder: a run that was interrupted goes on where it was. Data sets are
    looked for in the folder ORDHC_DATA, but for those of --data.
    """
    console = Console(stderr=True)
    given.PATHS.clear()
    for text in data:
        try:
            given.give(text)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--data") from None
    experiments = chosen(names)
    cells = [
        cell
        for experiment in experiments
        for cell in experiment.cells(quick)
        if only.lower() in " ".join(cell.labels).lower()
    ]
    if listing:
        for experiment in experiments:
            click.echo(f"{experiment.name:14} {experiment.title}")
        for short, what in given.FORMATS.values():
            click.echo(f"--data {short}=PATH: {what}")
        _report_missing(cells, experiments)
        return
    output = output / "quick" if quick else output
    output.mkdir(parents=True, exist_ok=True)
    cache = Cache(output / "cache")
    try:
        _run(undone(cells, cache, seeds), cache, console)
    except KeyboardInterrupt:
        console.print("Interrupted: the same command goes on from here.")
        raise SystemExit(130) from None
    finally:
        for message in report.write(EXPERIMENTS, cache, output, quick):
            console.print(message)
    _report_missing(cells, experiments)
    click.echo(f"{output / 'reproduction.md'}")


def _run(tasks: list[tuple[Cell, int]], cache: Cache, console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(tasks))
        for cell, seed in tasks:
            progress.update(bar, description=f"{', '.join(cell.labels)}, seed {seed}")
            cache.add(cell, seed, cell.run(seed))
            progress.advance(bar)


def _report_missing(cells: list[Cell], experiments: list[Experiment]) -> None:
    reasons = {cell.why_not(): None for cell in cells if cell.why_not()}
    for experiment in experiments:
        reasons |= {f"{what}: {why}": None for what, why in experiment.cannot}
    for reason in reasons:
        click.echo(f"Can't be run: {reason}", err=True)


if __name__ == "__main__":
    main()
