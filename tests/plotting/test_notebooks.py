"""What notebooks show: HTML that is well-formed, escaped and in the colours of the page."""

import sys
import tempfile
from html.parser import HTMLParser

import numpy as np

import ordhc

NAMES = ["<script>alert(1)</script>", 'a"b', "größe & co", "dog", "x" * 500]
RNG = np.random.default_rng(0)
ROWS = np.array([RNG.permutation(5)[:3] for _ in range(1234)])
M, _ = ordhc.datasets.planted(3000, levels=2, leaves_per_cluster=5, seed=1)


class Parser(HTMLParser):
    """Collects texts and tags; every tag must be closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts, self.rows = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def parsed(thing):
    html = thing._repr_html_()
    assert "<script" not in html
    if "<svg" not in html:
        # No colour of text, and no background but that of the page.
        assert ";color:" not in html
        assert "#" not in html
    return Parser(html)


def test_comparisons_are_a_table_of_the_first_rows():
    t = ordhc.Triplets(
        ROWS, names=NAMES, weights=RNG.integers(1, 5, len(ROWS)) / 2, groups=["<b>"] * len(ROWS)
    )
    page = parsed(t)
    assert page.texts[0] == repr(t)[1:-1]
    head, *rows, note = page.rows
    assert head == ["anchor", "near", "far", "weight", "group"]
    shown = [name if len(name) < 100 else "x" * 60 + "…" for name in NAMES]
    assert rows == [
        [*(shown[leaf] for leaf in row), f"{weight:g}", "<b>"]
        for row, weight in zip(t.rows[:5].tolist(), t.weights[:5].tolist(), strict=True)
    ]
    assert note == ["and 1,229 more"]


def test_comparisons_by_number_and_none_at_all():
    q = ordhc.Quadruplets([(0, 1, 2, 3), (4, 0, 1, 2)], answers=[3, 3])
    assert parsed(q).rows == [
        ["i", "j", "k", "l", "answer"],
        ["0", "1", "2", "3", "3"],
        ["4", "0", "1", "2", "3"],
    ]
    assert parsed(ordhc.Triplets([], n_leaves=3)).rows == [["anchor", "near", "far"]]
    assert len(parsed(ordhc.Triplets(ROWS[:5])).rows) == 6


def test_a_selection_is_the_table_that_is_printed():
    found = ordhc.select(M, ["adds3-al", "mulk3-al"], folds=3)
    page = parsed(found)
    assert [row[0] for row in page.rows[1:4]] == [*(c.method for c in found.candidates), "chance"]
    for row in page.rows[1:4]:
        for cell in row[:4]:
            assert cell.strip() in str(found)
    assert page.rows[1][-1] == "best"
    before_the_best = found._repr_html_().partition(f">{found.best}<")[0]
    assert "font-weight:600" in before_the_best[-120:]


def test_a_bootstrap_has_intervals_and_the_consensus():
    found = ordhc.bootstrap(M, n_resamples=12, seed=1)
    page = parsed(found)
    assert "svg" in page.tags
    interval, answers = found.intervals["held_out"], found.intervals["answers"]
    assert page.rows == [
        ["score", "estimate", "95% interval"],
        [
            "share of held-out answers satisfied",
            f"{interval.estimate:.4g}",
            f"{interval.low:.4g} to {interval.high:.4g}",
        ],
        [
            "share of held-out answers predicted",
            f"{answers.estimate:.4g}",
            f"{answers.low:.4g} to {answers.high:.4g}",
        ],
        ["chance 0.3333; for whole answers 0.5000"],
    ]


def test_names_in_pictures_are_escaped():
    names = [f"--><script>alert({leaf})</script> & <b>" for leaf in range(M.n_leaves)]
    found = ordhc.bootstrap(ordhc.Triplets(M.rows, names=names), n_resamples=2)
    html = found._repr_html_()
    assert "<svg" in html
    assert "<script" not in html
    assert "<b>" not in html


def test_without_matplotlib_there_are_the_intervals(monkeypatch):
    found = ordhc.bootstrap(M, n_resamples=2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = parsed(found)
    assert "svg" not in page.tags
    assert page.rows[1][0] == "share of held-out answers satisfied"


def test_learners_and_sessions_show_how_far_they_are(tmp_path):
    learner = ordhc.Learner(8)
    page = parsed(learner)
    assert page.texts[0] == repr(learner)[1:-1]
    assert "progress" in page.tags
    with ordhc.Session(tmp_path / "<i>.ordhc", n_leaves=3) as session:
        session.tell(session.ask().ids, [0])
        page = parsed(session)
    assert "<i>.ordhc" in page.texts[0]
    assert "100% of the leaves have their place" in " ".join(page.texts)


def test_a_tiny_tree():
    page = parsed(ordhc.bootstrap(ordhc.Triplets([(0, 1, 2)]), n_resamples=2))
    assert page.rows[1][0] == "share of held-out answers satisfied"


def test_every_picture_of_a_notebook_is_shown():
    import nbformat
    from nbclient import NotebookClient

    cells = [
        "import matplotlib.pyplot as plt; import ordhc; d = ordhc.as_dendrogram('((a,b),(c,d));')",
        "d.plot()",
        "d.plot(font='serif')",
        "plt.plot([1, 2, 3])",
        "ordhc.plots.heatmap(d, [1, 2, 3, 4, 5, 6])",
        "ordhc.plots.tanglegram(d, d)",
        "d.savefig('d.svg'); plt.plot([3, 2, 1])",
        "plt.rcParams['font.family'], plt.isinteractive()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
        client.execute()
    shown = [
        sum("image/png" in output.get("data", {}) for output in cell["outputs"]) for cell in notebook["cells"]
    ]
    assert shown == [0, 1, 1, 1, 1, 1, 1, 0]
    assert "(['sans-serif'], True)" in str(notebook["cells"][-1]["outputs"])
