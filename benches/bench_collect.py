"""Studies on web pages: python benches/bench_collect.py [load | burst | memory | studies].

`load` lets 300 people answer every two seconds; `burst` as fast as they can; `memory` 100,000 answers;
`studies` counts the answers that a tree takes, by sampler, and draws docs/images/collect-studies.png.
By default all.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from ordhc_collect.people.asking import Asker
from ordhc_collect.simulate.bots import Run, take_part
from ordhc_collect.simulate.crowd import Answering, crowd_of, drawn_tree
from ordhc_collect.simulate.study import GOAL, curve, needed
from ordhc_collect.study.reading import read_study

import ordhc
from measure import table
from ordhc.errors import InputError

ITEMS = 60
STUDY = """
{sampler}
[study]
title = "Things"
seed = {seed}
[items]
folder = "items"
[trials]
per_person = {each}
min_seconds = 0
[people]
joins_per_minute = 100000
{more}
"""


def written(folder, *, sampler="", more="", each=40, seed=0):
    """A study file in a folder."""
    items = Path(folder) / "items"
    items.mkdir(exist_ok=True)
    for k in range(ITEMS):
        (items / f"item{k:02}.txt").write_text(f"Item {k}")
    path = Path(folder) / "study.toml"
    path.write_text(STUDY.format(sampler=sampler, more=more, each=each, seed=seed))
    return path


def served(people, each, pause):
    """Bots at a server in a process of its own: what they saw, seconds, its processor time, its memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, each=each)
        command = [sys.executable, "-m", "ordhc", "collect", str(path), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        address = next(line for line in process.stdout if "http" in line).split()[-1].rstrip("/")
        study, truth, run = read_study(path), drawn_tree(ITEMS, 0), Run()

        async def everybody():
            chance = np.random.default_rng(0)

            async def one(k):
                await asyncio.sleep(chance.uniform(0, pause))
                answering = Answering(truth, "odd", 0.85, str(k))
                await take_part(study, address, f"bot{k}", answering, run, pause=pause)

            await asyncio.gather(*(one(k) for k in range(people)))

        before, start = processor_time(process.pid), time.perf_counter()
        asyncio.run(everybody())
        took, used = time.perf_counter() - start, processor_time(process.pid) - before
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory = int(status.split("VmHWM:")[1].split()[0]) / 1024
        process.terminate()
        process.wait()
    return run, took, used, memory


def processor_time(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def row(name, people, each, pause):
    run, took, used, memory = served(people, each, pause)
    slow = np.quantile(run.seconds, [0.5, 0.99]) * 1000
    return (
        name,
        f"{run.n_answers:,}",
        len(run.errors),
        f"{run.n_answers / took:,.0f}",
        f"{run.n_answers / used:,.0f}",
        f"{slow[0]:.0f}",
        f"{slow[1]:.0f}",
        f"{memory:.0f}",
    )


HEAD = (
    "what",
    "answers",
    "errors",
    "answers/s",
    "per s of its processor",
    "page, ms",
    "p99, ms",
    "MB at most",
)


def load():
    table(HEAD, [row("300 people, every 2 s", 300, 20, 2.0)])


def burst():
    table(HEAD, [row("100 people, at once", 100, 100, 0.0)])


def memory():
    table(HEAD, [row(f"{n:,} answers", 200, n // 200, 0.0) for n in (10_000, 100_000)])


SAMPLERS = {
    "random": 'sampler = "random"',
    "learner, p = 0.8": "[sampler]\nlearner = 0.8\nrepeat = 0.1\nrandom = 0.1\n[learner]\np = 0.8",
    "uncertain": "[sampler]\nuncertain = 0.8\nrepeat = 0.1\nrandom = 0.1",
}
CROWD = "0.7:0.9,0.2:0.7,0.1:random"


def answered(sampler, seed, total=6000, each=40):
    """The session of a study that a crowd has answered, person by person side by side, and the truth."""
    truth, kinds = drawn_tree(ITEMS, seed), crowd_of(CROWD)
    folder = tempfile.mkdtemp()
    study = read_study(written(folder, sampler=sampler, seed=seed))
    settings = study.learner_of_session
    session = ordhc.Session(Path(folder) / "a", names=study.names, durable=False, fill={}, **settings)
    asker, chance = Asker(study, session, Counter()), np.random.default_rng(seed)
    # Some twenty people at a time.
    for _ in range(total // each // 20 + 1):
        crowd = []
        for _ in range(20):
            kind = kinds[chance.choice(len(kinds), p=[kind.share for kind in kinds])]
            name = f"p{chance.integers(2**60)}"
            crowd.append((name, Answering(truth, "odd", kind.accuracy, name)))
        for _ in range(each):
            with session.transaction():
                for name, answering in crowd:
                    found = asker.next(name, 1, None, list)
                    if found is not None:
                        number, leaves, _ = found
                        session.tell([number], [answering(list(leaves)) - 1], who=name)
    return session, truth


def studies():
    rows, lines = [], {}
    for name, sampler in SAMPLERS.items():
        try:
            curves = []
            for seed in range(2):
                session, truth = answered(sampler, seed)
                curves.append(curve(session, truth, 7))
                session.close()
        except InputError as error:
            print(f"{name}: {error}")
            continue
        lines[name] = curves
        for way in ("weighted", "plain"):
            counts = [needed(points, way) for points in curves]
            told = [
                f"{count:,.0f}" if count is not None else f"> {points[-1].n_answers:,}"
                for count, points in zip(counts, curves, strict=True)
            ]
            last = np.mean([getattr(points[-1], way) for points in curves])
            rows.append((name, "with" if way == "weighted" else "without", ", ".join(told), f"{last:.2f}"))
    table(("sampler", "reliabilities", f"answers for AARI {GOAL}", "AARI in the end"), rows)
    draw(lines)


def draw(lines):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4), layout="constrained")
    for colour, (name, curves) in zip(("#0072B2", "#D55E00", "#009E73"), lines.items(), strict=False):
        for way, dash in (("weighted", "-"), ("plain", ":")):
            x = np.mean([[point.n_answers for point in points] for points in curves], axis=0)
            y = np.mean([[getattr(point, way) for point in points] for points in curves], axis=0)
            label = f"{name}, {'with' if way == 'weighted' else 'without'} reliabilities"
            axes.plot(x, y, dash, color=colour, label=label, linewidth=2)
    axes.axhline(GOAL, color="#888888", linewidth=0.8)
    axes.set(xlabel="answers", ylabel="AARI", ylim=(0, 1), xscale="log")
    axes.set_xticks([200, 500, 1000, 2000, 5000])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right", fontsize=9)
    figure.savefig(Path(__file__).parent.parent / "docs/images/collect-studies.png", dpi=150)


if __name__ == "__main__":
    chosen = [name for name in ("load", "burst", "memory", "studies") if name in sys.argv[1:]]
    for name in chosen or ("load", "burst", "memory", "studies"):
        globals()[name]()
