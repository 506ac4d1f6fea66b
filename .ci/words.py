"""Find words that stop readers: in docstrings, comments, messages and pages.

python .ci/words.py [FILES]
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

# What is searched for, and what to write instead. Code, inline code and links' addresses are not searched.
RULES = (
    (r"(?:tells|told)", "says, returns, reports, indicates; distinguishes"),
    (r"(?:nobody|somebody|whoever|amiss|shall)", "the user, the caller; a variable's name; invalid; must"),
    (r"(?:so|this) many", "the number, by its name"),
)
# At the beginning of a sentence.
OPENINGS = (
    r"(?:Of|Whose|Whoever|What|Who|That|Which)\b(?! (?:is|are|was|were) (?:not )?needed)",
    "subject first: name it",
)
SENTENCES = re.compile(r"(?<=[.:;!?])\s+(?=[A-Z`(\"*])|\n\s*\n|\n[=-]+\n|\n\s*[-*] ")
# History and texts of others keep their words.
LEFT_OUT = (
    "CHANGELOG.md",
    "THIRD-PARTY-LICENSES",
    "docs/_build",
    "docs/explanation/words.md",
    "docs/reproduction.md",
    "rust/fuzz",
    "tests",
    "benches",
)

Found = tuple[int, str]


def found_in(text: str, line: int) -> Iterator[Found]:
    """Yield the line and the advice of each match in a text that begins at `line`."""
    text = re.sub(r"(`+)[^`]*\1(?:\([\w:]*\))?", lambda code: "`" * len(code[0]), text)
    for pattern, advice in RULES:
        for match in re.finditer(rf"\b{pattern}\b", text, re.IGNORECASE):
            yield line + text.count("\n", 0, match.start()), f"{match[0]!r}: {advice}"
    start = 0
    for gap in [*SENTENCES.finditer(text), None]:
        sentence = text[start : gap.start() if gap else len(text)]
        opening = re.match(r"[\s*\"(]*(" + OPENINGS[0] + ")", sentence)
        if opening and not sentence.rstrip(' "*)`').endswith("?"):
            yield (
                line + text.count("\n", 0, start + opening.start(1)),
                f"{opening[1]!r} begins a sentence: {OPENINGS[1]}",
            )
        start = gap.end() if gap else start


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings without their examples, comments (joined over lines), and strings of several words."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 3:
            yield node.lineno, re.sub(r"(?m)^\s*(>>>|\.\.\.).*(\n(?!\s*\n|\s*>>>).*)*", _blank, node.value)
    yield from joined(
        (token.start[0], token.string.lstrip("#: "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    )


def rust_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments (joined over lines, without their examples), and strings of several words."""
    lines, in_code = [], False
    for number, line in enumerate(source.splitlines(), 1):
        comment = re.match(r"\s*//[/!]? ?(.*)", line)
        if comment and comment[1].startswith("```"):
            in_code = not in_code
        elif comment and not in_code:
            lines.append((number, comment[1]))
        elif not comment:
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                if text.count(" ") >= 3:
                    yield number, text
    yield from joined(lines)


def page_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield a page without its code, tables' rules and addresses of links."""
    source = re.sub(r"(?ms)^( *)(```+|~~~+|:::+).*?^\1\2", _blank, source)
    source = re.sub(r"(?<=\])\([^)\s]*\)", _blank, source)
    yield 1, re.sub(r"[|]", "\n\n", source.replace("\n", " \n")) if "|" not in source else source


def joined(lines: "Iterator[tuple[int, str]] | list[tuple[int, str]]") -> Iterator[tuple[int, str]]:
    """Join comments of adjacent lines."""
    first, texts = 0, []
    for number, text in lines:
        if texts and number != first + len(texts):
            yield first, "\n".join(texts)
            texts = []
        if not texts:
            first = number
        texts.append(text)
    if texts:
        yield first, "\n".join(texts)


def _blank(match: "re.Match[str]") -> str:
    return "\n" * match[0].count("\n")


TEXTS = {".py": python_texts, ".pyi": python_texts, ".rs": rust_texts, ".md": page_texts}


def main() -> None:
    """Print what was found, and fail if it is anything."""
    names = (
        sys.argv[1:]
        or subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    )
    count = 0
    for name in names:
        path = Path(name)
        if path.suffix not in TEXTS or any(part in name for part in LEFT_OUT) or not path.exists():
            continue
        found = {
            each
            for line, text in TEXTS[path.suffix](path.read_text(encoding="utf-8"))
            for each in found_in(text, line)
        }
        for line, advice in sorted(found):
            print(f"{name}:{line}: {advice}")
        count += len(found)
    if count:
        sys.exit(f"{count} places with words that stop readers")
    print("no words that stop readers")


if __name__ == "__main__":
    main()
