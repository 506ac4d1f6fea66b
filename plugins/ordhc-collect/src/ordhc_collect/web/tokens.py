"""What is signed: who somebody is, and which form they were shown."""

import hashlib
import os
import secrets
from pathlib import Path

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

__all__ = ["Signer", "key_beside"]

#: Seconds for which a form may be sent.
_FORM_AGE = 7 * 86_400


class Signer:
    """Signs with one secret key; what another key has signed, or nobody, is None."""

    def __init__(self, key: bytes) -> None:
        how = {"digest_method": hashlib.sha256}
        self._people = URLSafeSerializer(key, salt="person", signer_kwargs=how)
        self._forms = URLSafeTimedSerializer(key, salt="form", signer_kwargs=how)
        self._admin = URLSafeTimedSerializer(key, salt="dashboard", signer_kwargs=how)
        #: Tells the cookies of one study from those of another one on the same host.
        self.name = hashlib.sha256(b"name" + key).hexdigest()[:8]

    def person(self, who: str) -> str:
        """The cookie of somebody."""
        return str(self._people.dumps(who))

    def who(self, cookie: str | None) -> str | None:
        """Whose cookie it is."""
        try:
            found = self._people.loads(cookie or "")
        except BadData:
            return None
        return found if isinstance(found, str) else None

    def form(self, *what: object) -> str:
        """The token of a form."""
        return str(self._forms.dumps(list(what)))

    def read_form(self, token: str) -> list[object] | None:
        """What the token of a form was made of."""
        try:
            found = self._forms.loads(token, max_age=_FORM_AGE)
        except BadData:
            return None
        return found if isinstance(found, list) else None

    def admin(self, session: str) -> str:
        """The cookie of whoever may see the dashboard."""
        return str(self._admin.dumps(session))

    def is_admin(self, cookie: str | None, session: str) -> bool:
        """Whether a cookie lets somebody see the dashboard."""
        try:
            found = self._admin.loads(cookie or "", max_age=30 * 86_400)
        except BadData:
            return False
        return isinstance(found, str) and secrets.compare_digest(found, session)


def key_beside(path: Path) -> bytes:
    """The secret key of a session file, in a file of its own beside it that only its owner can read."""
    place = path.with_name(f"{path.name}.key")
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        found = place.read_bytes()
        if len(found) < 32:
            raise OSError(
                f"{place}: is no key; without it people can't go on where they were: move it away"
            ) from None
        return found
    with os.fdopen(handle, "wb") as file:
        key = secrets.token_bytes(32)
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key
