"""Mandal, Perrot & Ghoshdastidar: A revenue function for comparison-based hierarchical clustering (2023), on
the planted model. Tables 1, 4 and 5, Figures 1 to 6.
"""

import itertools
import math
import statistics
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

import ordhc
from reproduce import authors, curves, methods, report
from reproduce.framework import Cell, Experiment, Line, Published, Result, Results, lacking

AMOUNTS = ("16n^2", "8n^2", "4n^2", "2n^2", "n^2", "n^2/2", "n^2/4", "n^2/8", "n^2/16", "n^2/32")
SNRS = tuple(round(0.2 * step, 1) for step in range(1, 11))
TRIPLETS = ("AddS3-AL", "tSTE-AL", "MulK3-AL")
QUADRUPLETS = ("AddS4-AL", "4K-AL")

#: By table and method, in the order of AMOUNTS: the revenue and the AARI, each as mean and deviation.
_TABLES = {
    "table1": {
        "AddS3-AL": """7.336e7 0.937, 3.667e7 0.901, 1.820e7 0.855, 8.927e6 0.778, 4.333e6 0.699,
            2.097e6 0.614, 9.363e5 0.501, 4.310e5 0.404, 2.128e4 0.323, 1.048e4 0.151""",
        "tSTE-AL": """7.286e7 0.849, 3.648e7 0.867, 1.817e7 0.852, 9.094e6 0.856, 4.559e6 0.856,
            2.289e6 0.849, 1.138e6 0.847, 5.710e5 0.841, 2.853e5 0.667, 1.438e4 0.543""",
        "MulK3-AL": """7.304e7 0.863, 3.631e6 0.854, 1.784e7 0.821, 8.357e6 0.660, 3.754e6 0.539,
            1.255e6 0.353, 1.680e5 0.086, 7.938e4 0.010, 5.156e3 0.003, 1.314e3 0.000""",
    },
    "table4": {
        "AddS3-AL": """7.336e7 3.9e5 0.937 0.030, 3.667e7 7.9e4 0.901 0.025, 1.820e7 1.4e5 0.855 0.054,
            8.927e6 1.4e5 0.778 0.046, 4.333e6 9.3e4 0.699 0.063, 2.097e6 6.6e4 0.615 0.043,
            9.363e5 5.1e4 0.501 0.040, 4.310e5 2.4e4 0.403 0.036, 2.128e5 1.8e4 0.323 0.038,
            1.048e5 5.8e3 0.151 0.031""",
        "tSTE-AL": """7.286e7 8.9e4 0.849 0.009, 3.647e7 4.9e4 0.866 0.010, 1.816e7 5.3e4 0.852 0.011,
            9.093e6 1.9e4 0.855 0.009, 4.559e6 2.5e4 0.856 0.008, 2.289e6 1.8e4 0.849 0.014,
            1.138e6 1.0e4 0.847 0.010, 5.710e5 8.3e3 0.841 0.011, 2.853e5 7.3e3 0.667 0.046,
            1.438e5 5.7e3 0.543 0.015""",
        "MulK3-AL": """7.304e7 8.4e4 0.863 0.007, 3.631e7 4.8e4 0.854 0.003, 1.784e7 7.9e4 0.821 0.008,
            8.357e6 7.7e4 0.660 0.020, 3.754e6 1.2e5 0.539 0.012, 1.254e6 1.7e5 0.353 0.049,
            1.680e5 7.7e4 0.085 0.044, 7.938e3 1.4e4 0.010 0.011, 5.156e2 7.1e3 -0.0002 0.003,
            1.314e3 3.271e3 -0.0004 0.0009""",
    },
    "table5": {
        "AddS3-AL": """7.347e7 1.3e5 0.937 0.024, 3.667e7 1.7e5 0.905 0.020, 1.823e7 1.0e5 0.862 0.023,
            8.962e6 9.8e4 0.782 0.042, 4.315e6 9.7e4 0.682 0.047, 2.038e6 6.8e4 0.593 0.037,
            9.268e5 4.2e4 0.498 0.035, 4.261e5 2.5e4 0.396 0.033, 2.015e5 1.2e4 0.295 0.041,
            1.096e5 8.5e3 0.192 0.057""",
        "tSTE-AL": """7.300e7 8.7e4 0.877 0.007, 3.656e7 8.8e4 0.877 0.007, 1.825e7 7.0e4 0.874 0.012,
            9.130e6 4.0e4 0.867 0.014, 4.559e6 2.0e4 0.868 0.012, 2.277e6 1.4e4 0.860 0.014,
            1.137e6 1.0e4 0.851 0.065, 5.728e5 6.2e3 0.840 0.010, 2.858e5 3.3e3 0.720 0.057,
            1.450e5 2.2e3 0.549 0.025""",
        "MulK3-AL": """7.315e7 1.3e5 0.861 0.005, 3.636e7 9.7e4 0.855 0.003, 1.795e7 9.3e4 0.830 0.009,
            8.444e6 1.3e5 0.677 0.041, 3.728e6 1.4e5 0.540 0.016, 1.220e6 1.7e5 0.347 0.050,
            1.531e5 8.9e4 0.077 0.047, 1.856e4 1.2e4 0.011 0.011, 4.026e3 8.0e3 0.005 0.004,
            2.015e3 3.5e3 0.0003 0.001""",
    },
}  # fmt: skip
_ONE_DRAW = """The authors' code draws the similarities once, and the triplets ten times. The printed
deviations therefore lack the part between draws of similarities. It is added to their standard error here.
We draw both anew for each seed."""
#: Entries of Table 1 whose exponent is not that of Table 4.
_MISPRINTS = {
    ("AddS3-AL", "n^2/16"),
    ("AddS3-AL", "n^2/32"),
    ("tSTE-AL", "n^2/32"),
    ("MulK3-AL", "8n^2"),
    ("MulK3-AL", "n^2/8"),
    ("MulK3-AL", "n^2/16"),
}


def number_of(amount: str, n: int) -> int:
    """How many comparisons an amount such as "n^2/4" is."""
    times, _, parts = amount.partition("n^2")
    return int(times or 1) * n * n // int(parts[1:] or 1)


@lru_cache(maxsize=2)
def _simulated(
    amount: str, snr: float, quadruplets: bool, flip: float, n_pure: int, seed: int
) -> tuple[ordhc.Triplets | ordhc.Quadruplets, np.ndarray]:
    m = number_of(amount, 8 * n_pure)
    return ordhc.datasets.planted(
        m, leaves_per_cluster=n_pure, delta=0.1 * snr, quadruplets=quadruplets, flip=flip, seed=seed
    )


def _run(amount: str, snr: float, flip: float, n_pure: int, method: str, seed: int) -> Result:
    drawn, labels = _simulated(amount, snr, method in QUADRUPLETS, flip, n_pure, seed)
    tree = methods.fit(method, drawn, seed)
    return {"revenue": float(ordhc.score(tree, drawn)), "aari": ordhc.metrics.aari(tree, labels)}


def _run_as_authors(amount: str, n_pure: int, method: str, seed: int) -> Result:
    S, labels = authors.similarities(1.5, n_pure)
    drawn = authors.triplets(S, number_of(amount, len(S)), seed)
    tree = methods.fit(method, drawn, None, start=authors.start(len(S), seed))
    return {"revenue": float(ordhc.score(tree, drawn)), "aari": ordhc.metrics.aari(tree, labels)}


def _cell(
    labels: tuple[str, ...], amount: str, snr: float, flip: float, method: str, quick: bool, number: str
) -> Cell:
    n_pure = 5 if quick else 30
    return Cell(
        key=f"revenue/planted/{amount.replace('/', '_over_')}/{snr}/{flip}/{method}",
        labels=labels,
        run=partial(_run, amount, snr, flip, n_pure, method),
        number=number,
        seeds=2 if quick else 10,
        simulated=True,
        lacks=methods.lacks(method),
        settings={"n": 8 * n_pure},
    )


# --- tables ----------------------------------------------------------------------------------


def _published(table: str, method: str, number: str) -> list[Published]:
    # Table 1 is without deviations; those of Table 4 are of the same runs.
    full = "table4" if table == "table1" else table
    at = ("revenue", "aari").index(number)
    found = []
    for row, more in zip(_TABLES[table][method].split(","), _TABLES[full][method].split(","), strict=True):
        means = row.split()[:: len(row.split()) // 2]
        deviation = float(more.split()[1::2][at])
        found.append(Published(means[at], deviation, runs=10, one_draw=table != "table5"))
    return found


def table(which: str, quick: bool) -> list[Cell]:
    """Revenue and AARI by method and number of triplets."""
    cells = []
    for method in TRIPLETS:
        for number in ("revenue", "aari"):
            for amount, published in zip(AMOUNTS, _published(which, method, number), strict=True):
                cell = _cell((amount, method, number), amount, 1.5, 0.0, method, quick, number)
                misprint = which == "table1" and number == "revenue" and (method, amount) in _MISPRINTS
                note = "its exponent is misprinted, see Table 4" if misprint else ""
                cell = replace(cell, published=published, note=note)
                cells.append(_as_authors(cell, amount, method, quick) if which == "table5" else cell)
    # So that the comparisons of a row are drawn once.
    return sorted(cells, key=lambda cell: AMOUNTS.index(cell.labels[0]))


def _as_authors(cell: Cell, amount: str, method: str, quick: bool) -> Cell:
    """The same number from the authors' own draws."""
    run = partial(_run_as_authors, amount, 5 if quick else 30, method)
    key = f"revenue/table5/{amount.replace('/', '_over_')}/{method}"
    return replace(cell, key=key, run=run, same_draws=True)


# --- figures ---------------------------------------------------------------------------------


def _figure_cells(amounts: tuple[str, ...], names: tuple[str, ...], flip: float, quick: bool) -> list[Cell]:
    snrs = SNRS[4::5] if quick else SNRS
    return [
        _cell((amount, method, str(snr)), amount, snr, flip, method, quick, "revenue")
        for amount in amounts
        for snr in snrs
        for method in names
    ]


def same_order(results: Results) -> list[Line]:
    """Whether methods have the same order by revenue as by AARI, at every signal-to-noise ratio.

    Two methods contradict it if both differences are beyond 2 standard errors (paired by seed), with
    opposite signs.
    """
    found = []
    for amount in dict.fromkeys(cell.labels[0] for cell in results):

        def judge(amount: str = amount) -> tuple[str, bool]:
            points = curves.lines(results, amount)
            ratios = next(iter(points.values()))
            agreeing = sum(_order(points, snr, "revenue") == _order(points, snr, "aari") for snr in ratios)
            against = [
                f"{b} before {a} by AARI only at {snr}"
                for snr in ratios
                for a, b in itertools.permutations(points, 2)
                if _gap(points[a][snr], points[b][snr], "revenue") > 2
                and _gap(points[a][snr], points[b][snr], "aari") < -2
            ]
            text = f"{', '.join(points)}: the same at {agreeing} of {len(ratios)} ratios"
            if against:
                return f"{text}; {', '.join(against)}", False
            if agreeing < len(ratios):
                text += ", elsewhere within 2 standard errors"
            return text, True

        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[0] == amount}
        found.append(report.claim((amount,), "the same order of methods by revenue and AARI", cells, judge))
    return found


def _order(points: dict[str, dict[float, list[Result]]], snr: float, number: str) -> list[str]:
    return sorted(points, key=lambda method: curves.mean(points[method][snr], number))


def _gap(a: list[Result], b: list[Result], number: str) -> float:
    """The mean difference in its standard errors, over the seeds that both have."""
    differences = [x[number] - y[number] for x, y in zip(a, b, strict=False)]
    if len(differences) < 2:
        return 0.0
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    return statistics.fmean(differences) / (error * report.few(len(differences))) if error else 0.0


def _experiment(name: str, amounts: tuple[str, ...], names: tuple[str, ...], flip: float) -> Experiment:
    kind = "triplets" if names is TRIPLETS else "quadruplets"
    noise = ", 5% of them flipped" if flip else ""
    grid = [
        [
            curves.Panel(amount, "aari", "AARI", f"AARI, {amount} {kind}"),
            curves.Panel(amount, "revenue", "revenue", f"revenue, {amount} {kind}"),
        ]
        for amount in amounts
    ]
    return Experiment(
        name=f"revenue/{name}",
        title=f"Revenue, Figure {name[6:]}: AARI and revenue by signal-to-noise ratio, {kind}{noise}",
        columns=("comparisons",),
        cells=partial(_figure_cells, amounts, names, flip),
        lines=same_order,
        draw=curves.figure(grid, "signal-to-noise ratio"),
    )


# --- Figure 2 --------------------------------------------------------------------------------


def figure2(quick: bool) -> list[Cell]:
    """The runs of Table 4."""
    cells = [
        _cell((method, method, amount), amount, 1.5, 0.0, method, quick, "aari")
        for amount in AMOUNTS
        for method in TRIPLETS
    ]
    return [replace(cell, lacks=cell.lacks or lacking("scipy")) for cell in cells]


def correlations(results: Results) -> list[Line]:
    """Rank correlations of AARI and revenue over all runs."""
    said = {"AddS3-AL": "both above 0.9", "MulK3-AL": "both above 0.9", "tSTE-AL": "p about 1e-14"}
    found = []
    for method, claimed in said.items():
        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[0] == method}

        def judge(cells: Results = cells, method: str = method) -> tuple[str, bool]:
            from scipy import stats

            runs = [result for seeds in cells.values() for result in seeds.values()]
            x, y = ([run[number] for run in runs] for number in ("revenue", "aari"))
            tau, rho = stats.kendalltau(x, y), stats.spearmanr(x, y)
            text = f"tau {tau.statistic:.3f} (p = {tau.pvalue:.0e}), rho {rho.statistic:.3f}"
            holds = tau.pvalue < 1e-10 if method == "tSTE-AL" else min(tau.statistic, rho.statistic) > 0.9
            return text, bool(holds)

        found.append(report.claim((method,), claimed, cells, judge))
    return found


def scatter(results: Results, path: Path) -> None:
    """AARI against revenue, a panel for each method."""
    import matplotlib.pyplot as plt

    drawn = [m for m in TRIPLETS if any(cell.labels[0] == m for cell in results)]
    figure, axes = plt.subplots(
        1, len(drawn), figsize=(4.5 * len(drawn), 4), squeeze=False, layout="constrained"
    )
    for method, ax in zip(drawn, axes[0], strict=True):
        for cell, seeds in results.items():
            if cell.labels[0] == method:
                runs = list(seeds.values())
                at = [run["aari"] for run in runs]
                ax.scatter(at, [run["revenue"] for run in runs], s=10, label=cell.labels[2])
        ax.set(title=method, xlabel="AARI", ylabel="triplet revenue", yscale="symlog")
        ax.grid(visible=True, alpha=0.3)
    axes[0][0].legend(title="triplets", fontsize=7)
    figure.savefig(path, dpi=80)
    plt.close(figure)


# --- experiments -----------------------------------------------------------------------------

_REMARKS = {
    "table1": f"""The planted model with n = 240 and a signal-to-noise ratio of 1.5. The table has no
deviations; those of Table 4, the same runs, are taken. Six of its exponents are not those of Table 4.
{_ONE_DRAW}""",
    "table4": f"The planted model with n = 240 and a signal-to-noise ratio of 1.5. {_ONE_DRAW}",
    "table5": """The planted model with n = 240 and a signal-to-noise ratio of 1.5, with the authors' own
draws: one of similarities (NumPy's seed 0), ten of triplets (seeds 0 to 9), the order of tied merges, and
the random starts of t-STE. So all three methods must give the printed numbers. Steps of t-STE add rounding
errors up, which move its last digits.""",
}


_THREE = ("n^2/2", "n^2", "2n^2")
EXPERIMENTS = (
    *(
        Experiment(
            name=f"revenue/{which}",
            title=f"Revenue, Table {which[5:]}: revenue and AARI of methods by number of triplets",
            columns=("triplets", "method", "number"),
            cells=partial(table, which),
            lines=report.compare,
            remarks=remarks,
        )
        for which, remarks in _REMARKS.items()
    ),
    _experiment("figure1", ("n^2",), TRIPLETS, 0.0),
    Experiment(
        name="revenue/figure2",
        title="Revenue, Figure 2: correlation of AARI and revenue in the runs of Table 4",
        columns=("method",),
        cells=figure2,
        lines=correlations,
        draw=scatter,
        remarks="*Published* is what the text says of the rank correlations.",
    ),
    _experiment("figure3", _THREE, TRIPLETS, 0.0),
    _experiment("figure4", _THREE, QUADRUPLETS, 0.0),
    _experiment("figure5", _THREE, TRIPLETS, 0.05),
    _experiment("figure6", _THREE, QUADRUPLETS, 0.05),
)
