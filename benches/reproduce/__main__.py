"""The command: `python -m reproduce [NAMES]`."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reproduce import (
    dot_products,
    dot_theorems,
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

#: Tables, figures and theorems of the papers that have no experiment, and why.
LEFT_OUT = {
    "Dot products, Figures 1 and 5": "they illustrate the model; there is nothing to measure",
    "Dot products, Theorem 2": "its rates are those of Figure 2",
    "Dot products, Lemmas and appendices B, E.2": "steps of proofs and identities; `tests/project` compares "
    "Algorithm 1 and cosines with SciPy",
    "Foundations, Figure 1": "it illustrates the planted model",
    "Foundations, supplement, other shares p": "p = 0.01, 0.1 and 1 of Figure 2 are the ends and the middle",
    "Foundations (first version), Theorems 1 to 3": "they are about all comparisons: Figure 4 has the "
    "ratios at which each method is right",
    "Revenue, Table 3": "it lists the data sets: `tests/comparison` tests how answers become triplets",
    "Revenue, Theorem 1 for quadruplets": "`tests/metrics` tests the identity",
    "Queries, Lemmas and section 6": "steps of the proofs, and open questions",
}
RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[2] / "docs"
#: All papers' experiments.
EXPERIMENTS: tuple[Experiment, ...] = (
    *dot_products.EXPERIMENTS,
    *dot_topics.EXPERIMENTS,
    *dot_theorems.EXPERIMENTS,
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
    interrupted goes on where it was, and a run after a change repeats what the changed code made. Data sets
    are looked for in the folder ORDHC_DATA, but for those of --data."""
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
        for message in report.write(EXPERIMENTS, LEFT_OUT, store, output, quick=quick, tables=not page):
            console.print(message)
    _report_missing(cells)
    click.echo(f"{output / 'reproduction.md'}")


def _list(cells: list[Cell], experiments: list[Experiment]) -> None:
    for experiment in experiments:
        click.echo(f"{experiment.name:26} {experiment.title}")
    for what, why in LEFT_OUT.items():
        click.echo(f"Left out: {what}: {why}")
    for form in given.FORMATS.values():
        click.echo(f"--data {form.name}=PATH: {form.what}")
    _report_missing(cells)


def _run(tasks: list[tuple[Cell, int]], store: Store, console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(tasks))
        for cell, seed in tasks:
            progress.update(bar, description=f"{', '.join(cell.labels)}, seed {seed}")
            store.add(cell, seed, cell.run(seed))
            progress.advance(bar)


def _report_missing(cells: list[Cell]) -> None:
    reasons = {cell.why_not(): None for cell in cells if cell.why_not()}
    for reason in reasons:
        click.echo(f"Can't be run: {reason}", err=True)


if __name__ == "__main__":
    main()
