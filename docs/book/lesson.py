"""Parser of lessons: prose and executed blocks."""

import re
from dataclasses import dataclass

from book import BookError

FENCE = re.compile(r"^( *)(`{3,})\s*(\w*)\s*(.*?)\s*$")
# A fenced block, or `{{ x:.3f }}` in prose, which is replaced by the value of f"{x:.3f}" in the kernel.
EXPRESSION = re.compile(r"^ *(?P<fence>`{3,}).*?^ *(?P=fence) *$|\{\{ (?P<expression>.+?) \}\}", re.DOTALL | re.MULTILINE)
LANGUAGES = {"python": "", "sh": "%%bash -e\n"}
# `hide`: executed, but not shown. `fails`: must end with an error, which is shown.
WORDS = {"hide", "fails"}


@dataclass(frozen=True)
class Prose:
    """Markdown, in which `{{ }}` are replaced by their values; `line` is its first line, counted from 1."""

    line: int
    text: str

    @property
    def expressions(self) -> list[tuple[int, str]]:
        """The expressions outside fenced blocks, each with its line."""
        found = (at for at in EXPRESSION.finditer(self.text) if at["expression"])
        return [(self.line + self.text[: at.start()].count("\n"), at["expression"]) for at in found]


@dataclass(frozen=True)
class Cell:
    """An executed block; `line` is the line of its fence."""

    line: int
    language: str
    source: str
    words: frozenset[str]

    @property
    def code(self) -> str:
        """The source as a cell of a notebook."""
        return LANGUAGES[self.language] + self.source


def parts(name: str, text: str) -> list[Prose | Cell]:
    """Return the parts of a lesson in order.

    Raises:
        BookError: A block has no end, or an unknown word after its language.
    """
    found: list[Prose | Cell] = []
    lines = text.splitlines()
    at = start = 0

    def prose(end: int) -> None:
        if any(line.strip() for line in lines[start:end]):
            found.append(Prose(start + 1, "\n".join(lines[start:end])))

    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == fence[2]), None)
        if end is None:
            raise BookError(f"{name}:{at + 1}: this block has no end")
        if fence[3] in LANGUAGES:
            words = frozenset(fence[4].split())
            if words - WORDS:
                raise BookError(
                    f"{name}:{at + 1}: unknown word `{' '.join(sorted(words - WORDS))}`; allowed: {', '.join(sorted(WORDS))}"
                )
            prose(at)
            source = "\n".join(line.removeprefix(fence[1]) for line in lines[at + 1 : end])
            found.append(Cell(at + 1, fence[3], source, words))
            start = end + 1
        at = end + 1
    prose(len(lines))
    return found
