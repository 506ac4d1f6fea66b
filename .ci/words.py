"""Find words that stop readers: in docstrings, comments, messages and pages.

python .ci/words.py [FILES]
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

# Words to search for, and words to write instead. Code, inline code and addresses of links are not searched.
EVERYWHERE = (
    (r"(?:tells|told)", "says, returns, reports, indicates"),
    (r"(?:amiss|shall)", "invalid; must"),
    (r"(?:so|this) many", "the number, by its name"),
)
# Messages speak to people, so these words can be right there.
IN_PROSE = ((r"(?:nobody|somebody|whoever)", "the user, the person, the caller, no other thread"),)
OPENING = re.compile(r"[\s*\"(]*(Of|Whose|Whoever|What|Who|That|Which)\b")
SENTENCES = re.compile(r"(?<=[.:;!?])\s+(?=[A-Z`(\"*])|\n\s*\n|\n[=-]+\n|\n\s*[-*] ")
# History and texts of others keep their words.
LEFT_OUT = (
    "CHANGELOG.md",
    "THIRD-PARTY-LICENSES",
    "docs/_build",
    "plugins/ordhc-collect/src/ordhc_collect/demo",
    "docs/explanation/words.md",
    "docs/reproduction.md",
    "rust/fuzz",
    "tests",
    "benches",
)

Found = tuple[int, str]
# The first line, the text, and whether the text is a message.
Text = tuple[int, str, bool]


def found_in(line: int, text: str, is_message: bool) -> Iterator[Found]:
    """Yield the line and the advice of each match in a text that begins at `line`."""
    text = re.sub(r"(`+)[^`]*\1(?:\([\w:]*\))?", lambda code: "`" * len(code[0]), text)
    for pattern, advice in EVERYWHERE if is_message else EVERYWHERE + IN_PROSE:
        for match in re.finditer(rf"\b{pattern}\b", text, re.IGNORECASE):
            yield line + text.count("\n", 0, match.start()), f"{match[0]!r}: {advice}"
    if is_message:
        return
    start = 0
    for gap in [*SENTENCES.finditer(text), None]:
        sentence = text[start : gap.start() if gap else len(text)]
        opening = OPENING.match(sentence)
        if opening and not sentence.rstrip(' "*)`').endswith("?"):
            at = line + text.count("\n", 0, start + opening.start(1))
            yield at, f"{opening[1]!r} begins a sentence: put the subject first, and name it"
        start = gap.end() if gap else start


def python_texts(source: str) -> Iterator[Text]:
    """Yield docstrings without their examples, comments (joined over lines), and strings of several words."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 3:
            text = re.sub(r"(?m)^\s*(>>>|\.\.\.).*(\n(?!\s*\n|\s*>>>).*)*", _blank, node.value)
            yield node.lineno, text, id(node) not in docstrings
    yield from joined(
        (token.start[0], token.string.lstrip("#: "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    )


def rust_texts(source: str) -> Iterator[Text]:
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
                    yield number, text, True
    yield from joined(lines)


def page_texts(source: str) -> Iterator[Text]:
    """Yield a page without its code, tables' rules and addresses of links."""
    source = re.sub(r"(?ms)^( *)(```+|~~~+|:::+).*?^\1\2", _blank, source)
    source = re.sub(r"(?<=\])\([^)\s]*\)", _blank, source)
    yield 1, source, False


def joined(lines: Iterable[tuple[int, str]]) -> Iterator[Text]:
    """Join comments of adjacent lines."""
    first, texts = 0, []
    for number, text in lines:
        if texts and number != first + len(texts):
            yield first, "\n".join(texts), False
            texts = []
        if not texts:
            first = number
        texts.append(text)
    if texts:
        yield first, "\n".join(texts), False


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
        texts = TEXTS[path.suffix](path.read_text(encoding="utf-8"))
        found = {each for text in texts for each in found_in(*text)}
        for line, advice in sorted(found):
            print(f"{name}:{line}: {advice}")
        count += len(found)
    if count:
        sys.exit(f"{count} places with words that stop readers")
    print("no words that stop readers")


if __name__ == "__main__":
    main()
