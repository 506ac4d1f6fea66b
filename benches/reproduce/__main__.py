"""The command: `python -m reproduce [NAMES]`."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reproduce import (
    dot_products,
    dot_topics,
    foundations_data,
    foundations_planted,
    foundations_theorems,
    given,
    queries,
    report,
    revenue_data,
    revenue_planted,
    revenue_theorems,
)
from reproduce.framework import Cell, Experiment, Store, undone

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[2] / "docs"
#: All papers' experiments.
EXPERIMENTS: tuple[Experiment, ...] = (
    *dot_products.EXPERIMENTS,
    *dot_topics.EXPERIMENTS,
    *foundations_planted.EXPERIMENTS,
    *foundations_data.EXPERIMENTS,
    *foundations_theorems.EXPERIMENTS,
    *revenue_planted.EXPERIMENTS,
    *revenue_data.EXPERIMENTS,
    *revenue_theorems.EXPERIMENTS,
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
    help=" ".join(f"{form.name}=PATH: {form.what}." for form in given.FORMATS.values()) + " Repeatable.",
)
@click.option("--page", is_flag=True, help="Run nothing; make docs/reproduction.md of the stored results.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("reproduction"), show_default=True)
def main(
    names: tuple[str, ...],
    listing: bool,
    quick: bool,
    seeds: int | None,
    only: str,
    data: tuple[str, ...],
    page: bool,
    output: Path,
) -> None:
    """Repeat tables and figures of the papers: by default all, else those named ("table1", "dot").

    Results are stored in benches/reproduce/results, with --quick in the output folder: a run that was
    interrupted goes on where it was, and a run after a change repeats what the changed code made. Data sets are
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
        _list(cells, experiments)
        return
    output = DOCS if page else output / "quick" if quick else output
    output.mkdir(parents=True, exist_ok=True)
    store = Store(output / "results" if quick else RESULTS)
    try:
        _run([] if page else undone(cells, store, seeds), store, console)
    except KeyboardInterrupt:
        console.print("Interrupted: the same command goes on from here.")
        raise SystemExit(130) from None
    finally:
        for message in report.write(EXPERIMENTS, store, output, quick, tables=not page):
            console.print(message)
    _report_missing(cells, experiments)
    click.echo(f"{output / 'reproduction.md'}")


def _list(cells: list[Cell], experiments: list[Experiment]) -> None:
    for experiment in experiments:
        click.echo(f"{experiment.name:26} {experiment.title}")
    for form in given.FORMATS.values():
        click.echo(f"--data {form.name}=PATH: {form.what}")
    _report_missing(cells, experiments)


def _run(tasks: list[tuple[Cell, int]], store: Store, console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(tasks))
        for cell, seed in tasks:
            progress.update(bar, description=f"{', '.join(cell.labels)}, seed {seed}")
            store.add(cell, seed, cell.run(seed))
            progress.advance(bar)


def _report_missing(cells: list[Cell], experiments: list[Experiment]) -> None:
    reasons = {cell.why_not(): None for cell in cells if cell.why_not()}
    for experiment in experiments:
        reasons |= {f"{what}: {why}": None for what, why in experiment.cannot}
    for reason in reasons:
        click.echo(f"Can't be run: {reason}", err=True)


if __name__ == "__main__":
    main()
