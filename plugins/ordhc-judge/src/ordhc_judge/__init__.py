"""Let a language model answer ordhc's questions within a budget, and measure how often it is right.

Modules are imported when they are first used, so that commands that list plugins stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ordhc.hooks import hookimpl
from ordhc.specs import CommandSpec, OracleSpec

if TYPE_CHECKING:
    from ordhc_judge.auditing import Audit, audit
    from ordhc_judge.embedding import embed
    from ordhc_judge.errors import BudgetError, JudgeError, KeyRefusedError
    from ordhc_judge.judge import Judge
    from ordhc_judge.labels import label
    from ordhc_judge.prompt import DEFAULT_TEMPLATE, Template
    from ordhc_judge.report import Report, Share
    from ordhc_judge.spending import Estimate

__all__ = [
    "DEFAULT_TEMPLATE",
    "Audit",
    "BudgetError",
    "Estimate",
    "Judge",
    "JudgeError",
    "KeyRefusedError",
    "Report",
    "Share",
    "Template",
    "audit",
    "embed",
    "example_items",
    "label",
    "ordhc_commands",
    "ordhc_oracles",
]

_MODULES = {
    "Audit": "auditing",
    "BudgetError": "errors",
    "DEFAULT_TEMPLATE": "prompt",
    "Estimate": "spending",
    "Judge": "judge",
    "JudgeError": "errors",
    "KeyRefusedError": "errors",
    "Report": "report",
    "Share": "report",
    "Template": "prompt",
    "audit": "auditing",
    "embed": "embedding",
    "label": "labels",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found = getattr(import_module(f"ordhc_judge.{_MODULES[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def example_items() -> list[str]:
    """Return 150 short messages of bank customers, written for ordhc's tutorial and tests (MIT licence).

    Examples
    --------
    >>> import ordhc_judge
    >>> items = ordhc_judge.example_items()
    >>> len(items), items[0]
    (150, 'I have lost my card')
    """
    from ordhc_judge.examples import messages

    texts: list[str] = messages()[0]
    return texts


@hookimpl
def ordhc_oracles() -> list[OracleSpec]:
    """Return the oracle "judge", a language model."""
    from ordhc_judge.making import PARAMETERS, make_judge

    return [
        OracleSpec(
            name="judge",
            summary="a language model, behind an OpenAI-compatible address",
            make=make_judge,
            takes=("path", "names"),
            questions=(3,),
            parameters=PARAMETERS,
        )
    ]


def _command() -> Any:
    from ordhc_judge.command import judge

    return judge


@hookimpl
def ordhc_commands() -> list[CommandSpec]:
    """Return the command `ordhc judge`."""
    return [
        CommandSpec(
            name="judge",
            summary="audits, embeddings and labels with a language model",
            make=_command,
        )
    ]
