"""Read the section [api]: the sites whose pages may use the JSON API."""

from urllib.parse import urlsplit

from ordhc_collect.study.sections import Section


def origins_of(top: Section) -> tuple[str, ...] | None:
    """Return the addresses of sites whose pages may use the API; None if the study has no section [api].

    If the tuple is empty, only programs other than browsers can use the API.
    """
    if "api" not in top:
        return None
    section = top.section("api")
    given = section.any("origins", [])
    found = []
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        section.wrong("origins", 'should be a list of addresses: ["https://lab.example.org"]')
        given = []
    for each in given:
        parts = urlsplit(each)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or each != f"{parts.scheme}://{parts.netloc}"
        ):
            section.wrong(
                "origins", f"{each!r} should be like https://lab.example.org, without a path or a final /"
            )
        else:
            found.append(each.lower())
    section.close()
    return tuple(found)
