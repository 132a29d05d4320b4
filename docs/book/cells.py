"""Execute a lesson in its own Jupyter kernel."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from book import ROOT, BookError
from book.lesson import Cell, Prose

SECONDS = 300
# Figures as SVG, identical in every build.
FIRST = """\
import matplotlib_inline.backend_inline as _inline
_inline.set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
import matplotlib as _matplotlib
_matplotlib.rcParams["svg.hashsalt"] = "kolmo"
"""
# A file of the repository that a cell reads: it is copied to the same path.
READ = re.compile(r'"((?:docs|kernels|src)/[^"]+)"')
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def run(name: str, parts: list[Prose | Cell], cache: Path) -> list[list]:
    """Return the results of every part: the outputs of a cell, or the texts of the expressions in prose.

    A lesson is not executed again if its code, the program, the package and the files it reads have not changed since a previous build.

    Raises:
        BookError: A cell or an expression fails, or takes longer than `SECONDS`; with its line.
    """
    cells = [(0, FIRST, frozenset())]
    spans = []
    for part in parts:
        first = len(cells)
        if isinstance(part, Cell):
            cells.append((part.line, part.code, part.words))
        else:
            cells += [(line, f"print(f'''{{{code}}}''', end='')", frozenset()) for line, code in part.expressions]
        spans.append(range(first, len(cells)))
    kept = cache / f"{name}-{_digest([code for _, code, _ in cells])}.ipynb"
    if kept.exists():
        notebook = nbformat.read(kept, as_version=4)
    else:
        notebook = _executed(name, cells)
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{name}-*.ipynb"):
            old.unlink()
        nbformat.write(notebook, kept)
    return [
        notebook.cells[span[0]].outputs if isinstance(part, Cell) else [_text(notebook.cells[at]) for at in span]
        for part, span in zip(parts, spans, strict=True)
    ]


def _executed(name: str, cells: list[tuple[int, str, frozenset]]) -> nbformat.NotebookNode:
    notebook = nbformat.v4.new_notebook()
    for _, code, words in cells:
        cell = nbformat.v4.new_code_cell(code)
        cell.metadata["tags"] = ["raises-exception"] if "fails" in words else []
        notebook.cells.append(cell)
    with tempfile.TemporaryDirectory() as scratch:
        # `kolmo` in a shell cell is the program of the build. GPUs are hidden, so that results do not depend on them.
        tools = Path(scratch) / "bin"
        tools.mkdir()
        (tools / "kolmo").symlink_to(os.environ["KOLMO_PROGRAM"])
        work = Path(scratch) / "work"
        work.mkdir()
        for path in _read(code for _, code, _ in cells):
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, work / path)
        environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""}
        client = NotebookClient(
            notebook, timeout=SECONDS, resources={"metadata": {"path": str(work)}}, extra_arguments=["--log-level=ERROR"]
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as why:
            raise BookError(_failure(name, cells, notebook)) from why
        except (CellTimeoutError, DeadKernelError) as why:
            at = max(i for i, cell in enumerate(notebook.cells) if "execution" in cell.metadata)
            raise BookError(f"docs/lessons/{name}.md:{cells[at][0]}: {str(why).splitlines()[0]}") from why
    for (line, _, words), cell in zip(cells, notebook.cells, strict=True):
        if "fails" in words and not any(output.output_type == "error" for output in cell.outputs):
            raise BookError(f"docs/lessons/{name}.md:{line}: this block is marked `fails`, but succeeded")
    return notebook


def _failure(name: str, cells: list[tuple[int, str, frozenset]], notebook: nbformat.NotebookNode) -> str:
    """Return the line of the lesson, the error message and the output of the failed cell."""
    for (line, code, words), cell in zip(cells, notebook.cells, strict=True):
        error = next((output for output in cell.outputs if output.output_type == "error"), None)
        if error is None or "fails" in words:
            continue
        traceback = "\n".join(ANSI.sub("", text) for text in error.traceback)
        inside = re.findall(r"Cell In\[\d+\], line (\d+)", traceback)
        line += int(inside[0]) if inside and not code.startswith(("%%", "print(f'''")) else 0
        printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
        return f"docs/lessons/{name}.md:{line}: {error.ename}: {error.evalue}\n{printed}".rstrip()
    raise AssertionError("no cell failed")


def _text(cell: nbformat.NotebookNode) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def _read(codes: Iterable[str]) -> list[str]:
    """Return the files of the repository that cells name."""
    named = {path for code in codes for path in READ.findall(code)}
    return sorted(path for path in named if (ROOT / path).is_file())


def _digest(codes: list[str]) -> str:
    digest = hashlib.sha256("\0".join(codes).encode())
    package = sorted((ROOT / "python/kolmo").glob("*.py"))
    read = [ROOT / path for path in [*_read(codes), "tests/requirements.txt"]]
    for path in [Path(os.environ["KOLMO_PROGRAM"]), *package, *read]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
