"""Conversion of LaTeX in Markdown to MathML, which browsers show without a script."""

import re
from xml.etree import ElementTree

from latex2mathml.converter import convert

from book import BookError

# Parts other than text: fenced blocks, inline code, $$...$$ and $...$.
PIECES = re.compile(
    r"(?P<code>^ *(?P<fence>`{3,})[^\n]*\n.*?^ *(?P=fence) *$|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<indent>(?:^ *)?)\$\$(?P<block>.+?)\$\$"
    r"|(?<![\\$])\$(?![\s$])(?P<inline>(?:[^$\n`]|\n(?!\s*\n))+?)(?<![\s\\])\$(?!\d)",
    re.DOTALL | re.MULTILINE,
)
TEXT = re.compile(r">([^<]+)<")
# Number of children of these elements.
PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
# Corrections to the output of the converter: space around function names and relation signs, upright capital Greek letters, and
# primes, whose glyph is already small and raised.
AMENDMENTS = [
    (re.compile(r"<mi>((?:arc)?(?:sin|cos|tan)h?|exp|log|ln)</mi>"), r'<mo lspace="0.167em" rspace="0.167em">\1</mo>'),
    (re.compile(r"<mi>(&#x000B1;|&#x02213;)</mi>"), r"<mo>\1</mo>"),
    (re.compile(r"<mi>&#x0007E;</mi>"), "<mo>&#x0223C;</mo>"),
    (re.compile(r"<mi>(&#x003[9A][0-9A-F];)</mi>"), r'<mi mathvariant="normal">\1</mi>'),
    (
        re.compile(r"<mi>(&#x0203[234];)</mi>"),
        r'<mpadded voffset="-0.4em" height="0.5em"><mtext class="prime">\1</mtext></mpadded>',
    ),
]
MARKDOWN = re.compile(r"[*_`\[\]~|\\!]")


def typeset(name: str, line: int, text: str) -> str:
    """Return `text` with its equations as MathML; `line` is its first line, for messages.

    Raises:
        BookError: An equation is not valid LaTeX, or contains an unknown command.
    """

    def one(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        block = match["block"] is not None
        latex = (match["block"] if block else match["inline"]).strip()
        try:
            mathml = _mathml(latex, block)
        except Exception as why:
            at = line + text[: match.start()].count("\n")
            raise BookError(f"{name}:{at}: the equation {latex!r} cannot be typeset: {str(why) or type(why).__name__}") from why
        return f"\n\n{match['indent']}{mathml}\n\n" if block else mathml

    return PIECES.sub(one, text)


def _mathml(latex: str, block: bool) -> str:
    latex = latex.replace("{aligned}", "{split}")
    mathml = convert(latex, display="block" if block else "inline").replace("\n", " ")
    if unknown := re.search(r">(\\\w+|&)<", mathml):
        raise BookError(f"`{unknown[1]}` is unknown")
    if short := next(
        (of.tag for of in ElementTree.fromstring(mathml).iter() if len(of) < PARTS.get(of.tag.rpartition("}")[2], 0)), None
    ):
        raise BookError(f"a part of `{short.rpartition('}')[2]}` is missing")
    for wrong, right in AMENDMENTS:
        mathml = wrong.sub(right, mathml)
    # The MathML is embedded in Markdown, so its text must not contain characters with a meaning in Markdown.
    return TEXT.sub(lambda at: ">" + MARKDOWN.sub(lambda sign: f"&#{ord(sign[0])};", at[1]) + "<", mathml)
