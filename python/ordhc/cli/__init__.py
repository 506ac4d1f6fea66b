"""The command line: one file a command."""

import sys

import click

from ordhc import __version__
from ordhc.cli.cluster import cluster
from ordhc.cli.compare import compare
from ordhc.cli.convert import convert
from ordhc.cli.demo import demo
from ordhc.cli.learn import learn
from ordhc.cli.plugins import plugins
from ordhc.cli.score import score
from ordhc.cli.session import session
from ordhc.cli.simulate import simulate

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ordhc")
def group() -> None:
    """Hierarchies from comparisons: from "A is more like B than C" to a dendrogram.

    \b
    Example:
      ordhc cluster answers.csv -o tree.nwk --plot tree.svg
    """


for command in (cluster, compare, score, learn, session, convert, simulate, plugins, demo):
    group.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; bad input is one line on standard error and exit code 2."""
    import os
    import warnings

    from ordhc.errors import OrdhcWarning, PluginError

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, OrdhcWarning) or os.environ.get("ORDHC_DEBUG"):
            click.echo(f"ordhc: warning: {message}", err=True)

    warnings.showwarning = show
    try:
        # Without standalone mode click hands its own exceptions over instead of exiting.
        code = group.main(arguments, prog_name="ordhc", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("ordhc: stopped", err=True)
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message())
    except BrokenPipeError:
        # Whoever read the output has left; nothing more can be said to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (ValueError, TypeError, OSError, MemoryError, ImportError, PluginError) as error:
        if os.environ.get("ORDHC_DEBUG"):
            raise
        _fail(_one_line(error))


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _fail(message: str) -> None:
    click.echo(f"ordhc: {message}", err=True)
    sys.exit(2)
