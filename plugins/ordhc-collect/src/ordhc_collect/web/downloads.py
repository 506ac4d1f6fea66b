"""The files that can be downloaded from the dashboard."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, PlainTextResponse, Response

from ordhc.errors import InputError
from ordhc_collect.analysis.drawing import tree_svg
from ordhc_collect.analysis.export import as_csv, people_rows, rows_of
from ordhc_collect.people.tables import reading
from ordhc_collect.study.model import Study
from ordhc_collect.web.live import Live, Snapshot

DOWNLOADS = {
    "trials.csv": "every question and answer",
    "salmon.csv": "in Salmon's columns",
    "triplets.csv": "comparisons with weights",
    "people.csv": "one row for each person",
    "tree.nwk": "the tree, as Newick",
    "tree.svg": "the tree, as a picture",
    "study.ordhc": "everything: the session file",
}


async def download(name: str, study: Study, live: Live) -> Response:
    if name not in DOWNLOADS:
        return PlainTextResponse("there is no such file\n", 404)
    if name == "study.ordhc":
        make: Callable[[Path], None] = live.copy_file
    else:
        snapshot = await live.now()
        make = _maker(name, study, live, snapshot)
    with tempfile.NamedTemporaryFile(suffix=f"-{name}", delete=False) as file:
        path = Path(file.name)
    # Only the owner may read the temporary file, because it contains people's answers.
    path.chmod(0o600)
    try:
        await live.work(lambda: make(path))
    except InputError as error:
        path.unlink()
        return PlainTextResponse(f"{error}\n", 404)
    except BaseException:
        path.unlink()
        raise
    return FileResponse(
        path,
        filename=name,
        media_type="text/csv; charset=utf-8" if name.endswith(".csv") else "application/octet-stream",
        content_disposition_type="attachment",
        background=BackgroundTask(path.unlink),
    )


def _maker(name: str, study: Study, live: Live, snapshot: Snapshot) -> Callable[[Path], None]:
    summary = snapshot.summary

    def make(path: Path) -> None:
        if name.startswith("tree"):
            if summary.tree is None:
                raise InputError("there is no tree yet")
            picture = name.endswith("svg")
            text = (
                tree_svg(summary.tree, study.items, is_apart=True)
                if picture
                else summary.tree.to_newick() + "\n"
            )
            path.write_text(text, encoding="utf-8")
            return
        with reading(live.path) as tables, path.open("w", encoding="utf-8", newline="") as file:
            if name == "people.csv":
                rows = people_rows(study, tables, summary.people)
            else:
                rows = rows_of(name.removesuffix(".csv"), study, live.session(), tables, summary.people)
            file.writelines(as_csv(rows))

    return make
