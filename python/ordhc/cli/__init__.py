"""The command line: one file a command."""

import sys

import click

from ordhc._version import __version__
from ordhc.cli.cluster import cluster
from ordhc.cli.compare import compare
from ordhc.cli.consensus import consensus
from ordhc.cli.convert import convert
from ordhc.cli.demo import demo
from ordhc.cli.learn import learn
from ordhc.cli.plugins import plugins
from ordhc.cli.score import score
from ordhc.cli.session import session
from ordhc.cli.simulate import simulate

__all__ = ["main"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 2 for input that cannot be used, 3 for errors of ordhc itself, 130 when stopped. "
    "ORDHC_DEBUG=1 shows where an error comes from; ORDHC_MAX_UNPACKED=8G lets packed files be larger than "
    "1 GiB; ORDHC_NUM_THREADS is the number of threads.",
)
@click.version_option(__version__, prog_name="ordhc")
def group() -> None:
    """Hierarchies from comparisons: from "A is more like B than C" to a dendrogram.

    \b
    Example:
      ordhc cluster answers.csv -o tree.nwk --plot tree.svg
    """


for command in (cluster, compare, score, learn, session, convert, consensus, simulate, plugins, demo):
    group.add_command(command)


REPORT = "https://github.com/ordhc/ordhc/issues"


def main(arguments: list[str] | None = None) -> None:
    """Run a command; bad input is one line on standard error and exit code 2, a bug of ordhc is code 3."""
    import os
    import warnings
    from contextlib import nullcontext

    from ordhc._start import importing_is_over
    from ordhc.cli.output import only_json
    from ordhc.errors import InputError, OrdhcWarning, PluginError
    from ordhc.io.guard import brief

    importing_is_over()
    debug = bool(os.environ.get("ORDHC_DEBUG"))
    given = sys.argv[1:] if arguments is None else arguments

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, OrdhcWarning) or debug:
            _say(f"ordhc: warning: {brief(str(message), 20_000)}")

    warnings.showwarning = show
    try:
        with only_json() if "--json" in given else nullcontext():
            # Without standalone mode click hands its own exceptions over instead of exiting.
            code = group.main(arguments, prog_name="ordhc", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("ordhc: stopped")
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _fail(brief(error.format_message()))
    except BrokenPipeError:
        # Whoever read the output has left; nothing more can be said to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (InputError, OSError, MemoryError, ImportError, PluginError) as error:
        if debug:
            raise
        _fail(_one_line(error))
    except Exception as error:
        if debug:
            raise
        what = f"{type(error).__name__}: {brief(str(error), 200)}"
        hint = f"this is a bug; please report it with the command and ORDHC_DEBUG=1's traceback: {REPORT}"
        _fail(f"{what} ({hint})", code=3)


def _one_line(error: BaseException) -> str:
    from ordhc.io.guard import brief

    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{brief(str(error.filename), 200)}: {error.strerror}"
    return brief(str(error)) or type(error).__name__


def _fail(message: str, code: int = 2) -> None:
    _say(f"ordhc: {message}")
    sys.exit(code)


def _say(message: str) -> None:
    if sys.stderr is not None:
        click.echo(message, err=True)
