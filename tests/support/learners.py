"""Settings of learners as one flat mapping, for tests that go through many of them."""

from ordhc.asking.settings import SETTINGS, from_settings


def by_settings(**flat):
    """Return arguments of `Learner`, `Session` or `learn`: the method with its settings, and all others."""
    own = {key: value for key, value in flat.items() if key in SETTINGS or key == "method"}
    made = {} if not own else {"method": from_settings(own)}
    return {**{key: value for key, value in flat.items() if key not in own}, **made}
