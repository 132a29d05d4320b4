"""Page and notebook of a lesson."""

import html
import re
from pathlib import Path
from xml.etree import ElementTree

import nbformat

from book.cells import ANSI
from book.equations import typeset
from book.lesson import EXPRESSION, Cell, Prose

SOLUTION = re.compile(r"<details>\s*<summary>(.*?)</summary>")


def page(name: str, parts: list[Prose | Cell], results: list[list], folder: Path) -> str:
    """Return the lesson `name` as Markdown for mdBook; its figures are written to `folder`/figures."""
    figures = Figures(name, folder)
    text = []
    for part, result in zip(parts, results, strict=True):
        if isinstance(part, Prose):
            text.append(typeset(f"docs/lessons/{name}.md", part.line, filled(part, result)))
            continue
        if "hide" not in part.words:
            text.append(f"```{part.language}\n{part.source}\n```")
        # The pieces of the two streams arrive in any order; progress, on stderr, is shown first.
        for stream in ("stderr", "stdout"):
            text.append(_preformatted("".join(output.text for output in result if output.get("name") == stream)))
        # The error of a shell cell only repeats that the command failed, which its output already shows.
        text += [_shown(output, figures) for output in result if output.output_type in ("display_data", "execute_result")]
        if part.language == "python":
            text += [_preformatted(f"{output.ename}: {output.evalue}") for output in result if output.output_type == "error"]
    title, _, rest = "\n\n".join(filter(None, text)).partition("\n")
    return f'{title}\n\n<p class="notebook"><a href="{name}.ipynb" download>This lesson as a notebook</a></p>\n{rest}\n'


def notebook(parts: list[Prose | Cell], results: list[list]) -> nbformat.NotebookNode:
    """Return the lesson as a notebook without outputs."""
    book = nbformat.v4.new_notebook()
    book.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for at, (part, result) in enumerate(zip(parts, results, strict=True)):
        if isinstance(part, Cell):
            cell = nbformat.v4.new_code_cell(part.code)
            cell.metadata |= {"jupyter": {"source_hidden": True}} if "hide" in part.words else {}
            cell.metadata |= {"tags": ["raises-exception"]} if "fails" in part.words else {}
        else:
            # A cell cannot hide other cells in a collapsible block.
            text = SOLUTION.sub(r"**\1**", filled(part, result)).replace("</details>", "").strip()
            if not text:
                continue
            cell = nbformat.v4.new_markdown_cell(text)
        cell.id = f"part-{at}"
        book.cells.append(cell)
    nbformat.validate(book)
    return book


def filled(prose: Prose, values: list[str]) -> str:
    """Return the text with the values of its expressions."""
    rest = iter(values)
    return EXPRESSION.sub(lambda at: next(rest) if at["expression"] else at[0], prose.text)


class Figures:
    """Writer for the figures of a lesson."""

    def __init__(self, name: str, folder: Path):
        self.name, self.folder, self.count = name, folder / "figures", 0

    def add(self, svg: str) -> str:
        """Write a figure and return the HTML that shows it."""
        self.count += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        file = f"{self.name}-{self.count}.svg"
        (self.folder / file).write_text(svg, encoding="utf-8")
        text = html.escape(_described(svg) or f"figure {self.count} of this lesson")
        return f'<p class="figure"><img src="figures/{file}" alt="{text}"></p>'


def _described(svg: str) -> str:
    """Return the labels of a Matplotlib figure, which draws its texts as paths and contains them as comments."""
    builder = ElementTree.TreeBuilder(insert_comments=True)
    figure = ElementTree.fromstring(svg, ElementTree.XMLParser(target=builder))
    labels = (_of_axes(group) for group in figure.iter() if _is(group, "axes_"))
    return "; ".join(dict.fromkeys(filter(None, labels)))


def _of_axes(axes: ElementTree.Element) -> str:
    """Return `title: y against x`, omitting missing parts."""
    labels = [next(iter(_texts(group)), "") for group in axes if _is(group, "matplotlib.axis_")]
    title = next(reversed(_texts(axes)), "")
    return ": ".join(filter(None, [title, " against ".join(filter(None, reversed(labels)))]))


def _texts(group: ElementTree.Element) -> list[str]:
    """Return the texts of a group itself, not those of its children."""
    comments = (part for text in group if _is(text, "text_") for part in text if part.tag is ElementTree.Comment)
    return [" ".join((comment.text or "").split()) for comment in comments]


def _is(part: ElementTree.Element, name: str) -> bool:
    return part.get("id", "").startswith(name)


def _shown(output: nbformat.NotebookNode, figures: Figures) -> str:
    """Return the display of a cell, as Markdown or as HTML without empty lines, which would end an HTML block."""
    data = output.data
    if "image/svg+xml" in data:
        return figures.add(data["image/svg+xml"])
    if "text/markdown" in data:
        return typeset(figures.name, 0, data["text/markdown"])
    if "dataframe" in data.get("text/html", ""):
        table = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
        table = re.sub(r' (border="1"|style="text-align: right;")', "", table)
        return '<div class="output">' + re.sub(r"\s*\n\s*", " ", table).strip() + "</div>"
    return _preformatted(data["text/plain"])


def _preformatted(text: str) -> str:
    text = ANSI.sub("", text).rstrip()
    # Omit text that a terminal would have overwritten.
    text = "\n".join(line.rsplit("\r", 1)[-1] for line in text.split("\n"))
    return f'<pre class="output">{html.escape(text)}</pre>' if text else ""
