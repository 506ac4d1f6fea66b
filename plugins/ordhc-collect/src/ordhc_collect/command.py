"""`ordhc collect`: run a study on a web page."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ordhc.commands import Command, section

if TYPE_CHECKING:
    from ordhc_collect.study.model import Study

#: The proxy's addresses if `--behind-proxy` is given without an address.
THIS_MACHINE = "127.0.0.1,::1"


def _networks(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    found = []
    for part in [] if value is None else value.split(","):
        try:
            found.append(str(ip_network(part.strip(), strict=False)))
        except ValueError:
            raise click.BadParameter(
                f"{part.strip()!r} is not an IP address or a network such as 172.16.0.0/12; "
                "write STUDY.TOML before --behind-proxy"
            ) from None
    return ",".join(found) or None


def _prefix(_context: click.Context, _option: click.Parameter, value: str) -> str:
    found = value.strip("/")
    if not re.fullmatch(r"([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?", found) or ".." in found.split("/"):
        raise click.BadParameter(f"{value!r} is not a path such as /alike or /studies/alike")
    return f"/{found}" if found else ""


@click.command(cls=Command, no_args_is_help=True)
@click.argument("study", metavar="[STUDY.TOML]", required=False)
@click.option("--demo", is_flag=True, help="Run the bundled study: 20 animals.")
@section("The server")
@click.option(
    "--data",
    metavar="FILE",
    help="The session file that keeps all answers. Default: STUDY.ordhc; none with --demo and --simulate.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port; 0 for any free port.",
)
@click.option(
    "--behind-proxy",
    metavar="[ADDRESS,...]",
    is_flag=False,
    flag_value=THIS_MACHINE,
    callback=_networks,
    help="Trust the clients' addresses that a proxy reports. ADDRESS is the address or network of the proxy; "
    "by default the proxy is on this machine.",
)
@click.option(
    "--path-prefix",
    metavar="PATH",
    default="",
    callback=_prefix,
    help="The prefix of all addresses of this study, such as /alike, if a proxy serves several studies.",
)
@click.option(
    "--delete-after",
    type=click.FloatRange(min=0, min_open=True),
    metavar="DAYS",
    help="Delete a person's id on the platform DAYS days after their last visit; their answers stay.",
)
@section("Before it begins")
@click.option("--init", metavar="DIR", help="Write a complete study to change: a new folder with its files.")
@click.option(
    "--preview", is_flag=True, help="Serve the study to try it; answers are lost when the server ends."
)
@click.option("--check", is_flag=True, help="Show the errors and warnings of the study, and a summary.")
@click.option(
    "--simulate",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Let N bots take part; show the duration, the quality of the tree and the cost.",
)
@click.option(
    "--accuracy",
    type=click.FloatRange(0, 1),
    default=0.85,
    show_default=True,
    help="The probability that a bot's answer is right.",
)
@click.option(
    "--crowd",
    metavar="SHARE:ACCURACY,...",
    help="Several kinds of bots instead of --accuracy, such as 0.7:0.9,0.2:0.7,0.1:random.",
)
@click.option("--truth", metavar="TREE", help="The true tree, in a file; by default a random tree.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the tree and the bots.")
@section("Afterwards")
@click.option("--export", metavar="CSV", help="Write the answers to a file.")
@click.option(
    "--backup",
    metavar="FILE",
    help="Copy the session and its key, also while the server runs; an older copy is replaced.",
)
@click.option(
    "--as",
    "format",
    type=click.Choice(["salmon", "trials", "triplets", "people", "psych-ds"]),
    default=None,
    help="What --export writes. Default: salmon, or trials if the question is pairs. psych-ds writes a "
    "folder to share, without ids of platforms.",
)
@click.option(
    "--forget", metavar="PERSON", help="Erase a person, by their id in the study or on the platform."
)
@click.option(
    "--delete-ids", is_flag=True, help="Delete the ids of all people on the platform; their answers stay."
)
@click.option(
    "--hash-password", is_flag=True, help="Ask for a password, and print the value of [dashboard] password."
)
def collect(study: str | None, demo: bool, **options: Any) -> None:
    """Ask people on a web page which items are similar, and watch the tree grow.

    STUDY.TOML describes the study: its items, pages, questions and people. The server prints two addresses:
    one for participants, one for the dashboard. Ctrl-C stops the server; the same command continues the
    study.

    \b
    Examples:
      ordhc collect --demo
      ordhc collect --init mystudy
      ordhc collect study.toml --check
      ordhc collect study.toml --simulate 50 --accuracy 0.85
      ordhc collect study.toml --port 8000 --data study.ordhc
      ordhc collect study.toml --data study.ordhc --export answers.csv
    """
    from ordhc_collect import actions

    if options.pop("hash_password"):
        actions.hash_password()
        return
    if (folder := options.pop("init")) is not None:
        if demo or study is not None:
            raise click.UsageError("--init DIR writes a new study; omit STUDY.TOML and --demo")
        actions.begin(Path(folder))
        return
    if demo == (study is not None):
        raise click.UsageError(
            "give a STUDY.TOML, or --demo" if study is None else "give a STUDY.TOML or --demo, not both"
        )
    path = actions.DEMO if demo else Path(str(study))
    if not demo and not path.exists():
        raise click.UsageError(
            f"{path}: there is no such file; `ordhc collect --demo` shows a study without one"
        )
    chosen = [
        name
        for name in ("check", "preview", "simulate", "export", "backup", "forget", "delete_ids")
        if options[name]
    ]
    if len(chosen) > 1:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in chosen)
        raise click.UsageError(f"{names} cannot be combined; give one of them")
    if options["format"] is not None and not options["export"]:
        raise click.UsageError("--as needs --export FILE")
    if options.pop("check"):
        raise click.exceptions.Exit(actions.check(path))
    data = None if options["data"] is None else Path(options["data"])
    found: Study = actions.read_study(path)
    if options["simulate"]:
        keys = ("accuracy", "crowd", "truth", "seed")
        given = {key: options[key] for key in keys}
        actions.simulate(found, options["simulate"], data=data, **given)
        return
    served = {"host": options["host"], "port": options["port"], "proxies": options["behind_proxy"]}
    served["prefix"] = options["path_prefix"]
    if options["preview"]:
        if data is not None:
            raise click.UsageError("--preview stores no answers; omit --data FILE")
        actions.preview(found, **served)
        return
    if data is None and not demo:
        data = path.with_suffix(".ordhc")
    if chosen:
        if data is None:
            raise click.UsageError(
                f"--{chosen[0].replace('_', '-')} needs --data FILE, the session of the study"
            )
        actions.afterwards(found, data, options)
        return
    actions.run(found, data, delete_after=options["delete_after"], **served)
