"""Sign the cookies of people and the tokens of forms."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from pathlib import Path

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

#: The number of seconds for which the token of a form is valid.
_FORM_AGE = 7 * 86_400


class Signer:
    """Signs values with a secret key, and reads them again; a value without a valid signature is ignored."""

    def __init__(self, key: bytes) -> None:
        how = {"digest_method": hashlib.sha256}
        self._people = URLSafeSerializer(key, salt="person", signer_kwargs=how)
        self._forms = URLSafeTimedSerializer(key, salt="form", signer_kwargs=how)
        self._admin = URLSafeTimedSerializer(key, salt="dashboard", signer_kwargs=how)
        #: A part of cookie names, so that several studies on the same host have different cookies.
        self.name = hashlib.sha256(b"name" + key).hexdigest()[:8]
        #: The token of the dashboard, which is the same each time the study is started.
        self.token = urlsafe_b64encode(hmac.digest(key, b"token of the dashboard", "sha256")[:24]).decode()

    def person(self, who: str) -> str:
        return str(self._people.dumps(who))

    def who(self, cookie: str | None) -> str | None:
        """Return the id of the person of a cookie; None if the cookie is missing or invalid."""
        try:
            found = self._people.loads(cookie or "")
        except BadData:
            return None
        return found if isinstance(found, str) else None

    def form(self, *what: object) -> str:
        """Return a signed token for an HTML form; the token contains the values `what`, for `read_form`."""
        return str(self._forms.dumps(list(what)))

    def read_form(self, token: str) -> list[object] | None:
        """Return the values in the token of a form; None if the token is invalid or too old."""
        try:
            found = self._forms.loads(token, max_age=_FORM_AGE)
        except BadData:
            return None
        return found if isinstance(found, list) else None

    def admin(self, session: str) -> str:
        """Return the cookie that gives access to the dashboard."""
        return str(self._admin.dumps(session))

    def is_admin(self, cookie: str | None, session: str) -> bool:
        try:
            found = self._admin.loads(cookie or "", max_age=30 * 86_400)
        except BadData:
            return False
        return isinstance(found, str) and secrets.compare_digest(found, session)


def key_beside(path: Path) -> bytes:
    """Return the secret key of a session file; create the key if it does not exist.

    The key is in the file `<session>.key`, which only its owner can read.
    """
    place = path.with_name(f"{path.name}.key")
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        found = place.read_bytes()
        if len(found) < 32:
            raise OSError(
                f"{place} is not a key; delete it to create a new key (people must then start again)"
            ) from None
        return found
    with os.fdopen(handle, "wb") as file:
        key = secrets.token_bytes(32)
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key
