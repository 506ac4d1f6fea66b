"""The command line interface; each command has its own module."""

import os
import platform
import re
import shlex
import sys
import traceback
import warnings
from contextlib import nullcontext

import click
import numpy as np

from ordhc._start import importing_is_over
from ordhc._version import ISSUES, __version__
from ordhc.cli.cluster import cluster
from ordhc.cli.compare import compare
from ordhc.cli.completion import completion
from ordhc.cli.consensus import consensus
from ordhc.cli.convert import convert
from ordhc.cli.demo import demo
from ordhc.cli.learn import learn
from ordhc.cli.output import only_json
from ordhc.cli.people_groups import people_groups
from ordhc.cli.plan import plan
from ordhc.cli.plot import plot
from ordhc.cli.plugins import plugins
from ordhc.cli.report import report
from ordhc.cli.root import Root
from ordhc.cli.score import score
from ordhc.cli.session import session
from ordhc.cli.simulate import simulate
from ordhc.cli.structure import structure
from ordhc.errors import InputError, InternalError, OrdhcWarning, PluginError
from ordhc.io.paths import brief, is_remote, masked

__all__ = ["main"]
__dir__ = __all__.copy


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    tables={
        "Environment": [
            ("ORDHC_DEBUG=1", "Show the traceback of an error, and warnings of other packages."),
            ("ORDHC_MAX_UNPACKED=8G", "Allow compressed files to unpack to more than 1 GiB."),
            ("ORDHC_NUM_THREADS=4", "The number of threads; results do not depend on it."),
            ("ORDHC_PLUGINS=A,B", "The plugins to load; an empty value loads none."),
            ("ORDHC_STRICT=1", "A plugin that cannot be loaded is an error."),
            ("NO_COLOR=1", "Help without colours."),
        ],
        "Exit codes": [
            ("0", "Done."),
            ("2", "Input or options that cannot be used; one line names the place and the problem."),
            ("3", "An error of ordhc itself; two lines explain how to report it."),
            ("130", "Stopped with Ctrl-C."),
            ("141", "The program that read the output has closed the pipe."),
        ],
    },
)
@click.version_option(__version__, prog_name="ordhc")
def group() -> None:
    """Hierarchies from comparisons: from "A is more like B than C" to a dendrogram.

    \b
    Example:
      ordhc cluster answers.csv -o tree.nwk --plot tree.svg
    """


#: Parameters whose names end with one of these words are secret.
_SECRET = ("key", "token", "password", "secret", "headers")
#: Plugins of this repository: their failures are bugs of ordhc.
_OWN_PLUGINS = ("ordhc-linkages", "ordhc-embedding", "ordhc-judge", "ordhc-collect")
_COMMANDS = (
    cluster,
    compare,
    structure,
    people_groups,
    score,
    report,
    plot,
    learn,
    session,
    convert,
    consensus,
    simulate,
    plan,
    plugins,
    demo,
    completion,
)
for command in _COMMANDS:
    group.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command, and exit.

    Bad input prints one line to standard error and exits with code 2. A bug prints two lines and exits with
    code 3.
    """
    importing_is_over()
    debug = bool(os.environ.get("ORDHC_DEBUG"))
    given = sys.argv[1:] if arguments is None else arguments

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, OrdhcWarning) or debug:
            _say(f"ordhc: warning: {brief(str(message), 20_000)}")

    warnings.showwarning = show
    if "_ORDHC_COMPLETE" in os.environ:
        # The shell asks for completions while the user types: warnings would disturb the line.
        warnings.simplefilter("ignore")
    try:
        with only_json() if "--json" in given else nullcontext():
            # Without standalone mode click raises its exceptions instead of exiting.
            code = group.main(arguments, prog_name="ordhc", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("ordhc: stopped")
        sys.exit(130)
    except click.ClickException as error:
        # Before version 8.2 click prints the help of a command without arguments itself.
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
            _say(error.format_message())
            sys.exit(2)
        # click repeats arguments in its messages, so the messages can have URLs with secrets.
        url = r"[a-zA-Z][\w+.:-]*://[^\s'\")]+"
        _fail(brief(re.sub(url, lambda found: masked(found[0]), error.format_message())))
    except BrokenPipeError:
        # The reader has closed the pipe. Redirect standard output, so that Python's flush at exit cannot
        # fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        if debug:
            traceback.print_exc()
        is_ours = isinstance(error, ImportError) and str(error.name).startswith("ordhc")
        if isinstance(error, (InputError, OSError, MemoryError, ImportError, PluginError)) and not is_ours:
            _fail(_one_line(error))
        if plugin := _plugin_at_fault(error):
            _say(f"ordhc: the plugin {plugin} failed: {_described(error)}")
            _fail(f"please report it to the authors of {plugin}; ORDHC_DEBUG=1 shows the traceback", code=3)
        _say(f"ordhc: internal error: {_described(error)}")
        _fail(_how_to_report(given), code=3)


def _plugin_at_fault(error: Exception) -> str | None:
    from ordhc.plugins.registry import plugin_of

    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == "ordhc":
            return None
        if plugin := plugin_of(module):
            return None if plugin in _OWN_PLUGINS else plugin
    return None


def _described(error: Exception) -> str:
    from ordhc.plugins.registry import plugin_of

    text = Exception.__str__(error) if isinstance(error, InternalError) else str(error)
    described = f"{type(error).__name__}: {brief(text, 200)}" if text else type(error).__name__
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = frame.f_globals.get("__name__", "")
        if module.startswith("ordhc") or plugin_of(module):
            return f"{described} (in {module}, line {line})"
    return described


def _how_to_report(given: list[str]) -> str:
    command = brief(shlex.join(["ordhc", *map(_without_secret, given)]), 500)
    versions = f"ordhc {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    return (
        f"please report it at {ISSUES} with the command `{command}`, {versions}, {platform.system()} "
        f"{platform.machine()}, and the traceback that ORDHC_DEBUG=1 shows"
    )


def _without_secret(argument: str) -> str:
    if is_remote(argument):
        return masked(argument)
    name, equals, _ = argument.partition("=")
    return f"{name}=..." if equals and name.lower().endswith(_SECRET) else argument


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{brief(str(error.filename), 200)}: {error.strerror}"
    return brief(str(error)) or type(error).__name__


def _fail(message: str, code: int = 2) -> None:
    _say(f"ordhc: {message}")
    sys.exit(code)


def _say(message: str) -> None:
    if sys.stderr is not None:
        click.echo(message, err=True)
