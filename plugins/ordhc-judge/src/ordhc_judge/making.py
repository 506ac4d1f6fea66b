"""Create a judge from the parameters of the oracle named "judge"."""

from collections.abc import Mapping
from typing import Any

from ordhc.errors import InputError

#: The parameters of the oracle `judge`, for `ordhc learn --param` and `ordhc.oracles.named("judge", ...)`.
PARAMETERS = {
    "url": None,
    "model": None,
    "key": None,
    "criterion": "meaning",
    "orders": "cyclic",
    "temperature": 0,
    "concurrency": 8,
    "rpm": "auto",
    "budget": None,
    "cache": "judge.sqlite",
    "template": None,
    "agree": "all",
    "prices": None,
    "logprobs": True,
    "max_tokens": 16,
    "timeout": 60,
    "retries": 5,
    "headers": None,
    "extra": None,
}


def judge_of(source: Any, given: Mapping[str, Any]) -> Any:
    """Return a judge with the parameters given on a command line, and defaults for the other parameters."""
    for name in given:
        if name not in PARAMETERS:
            raise InputError(f"the judge has no parameter {name!r}; its parameters: {', '.join(PARAMETERS)}")
    return make_judge(source, **{**PARAMETERS, **given})


def make_judge(source: Any, **parameters: Any) -> Any:
    """Return the oracle named "judge"; `source` has the texts, or is a file of texts."""
    from ordhc_judge.judge import Judge

    if source is None:
        raise InputError(
            "the judge needs the texts of the items: give --items FILE or --source FILE (in Python, `source`)"
        )
    if parameters["url"] is None:
        raise InputError("the judge needs the address of a server: --param url=https://...")
    for name in ("model", "key", "criterion"):
        # The command line converts values that look like numbers, but these parameters are texts.
        if isinstance(parameters[name], int | float):
            parameters[name] = str(parameters[name])
    return Judge(parameters.pop("url"), parameters.pop("model"), source, **parameters)
