"""`docs/build`: build the book from docs/ in target/book."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

from book import DOCS, ROOT, BookError, cells, lesson, links, page, reference, sources


def main() -> None:
    """Build and check the book; on an error print messages and exit with 1."""
    options = argparse.ArgumentParser(prog="docs/build", description="Build the book.")
    options.add_argument("--out", type=Path, default=ROOT / "target/book", help="output directory (target/book)")
    options.add_argument(
        "--complete", action="store_true", help="fail if the explorables are missing; explorables/build builds them"
    )
    chosen = options.parse_args()
    out = chosen.out.resolve()
    start = time.monotonic()
    try:
        if chosen.complete and not sources.EXPLORABLES_DIST.is_dir():
            raise BookError("the explorables are missing; build them with explorables/build")
        build(out)
    except BookError as why:
        sys.exit(f"error: {why}")
    print(f"{out.relative_to(ROOT) if out.is_relative_to(ROOT) else out}/index.html ({time.monotonic() - start:.0f} s)")


def build(out: Path) -> None:
    """Write the Markdown for mdBook next to `out`, run mdBook, and check the links of the pages."""
    stage = out.with_name(out.name + "-source")
    shutil.rmtree(stage, ignore_errors=True)
    sources.lay_out(stage)
    names = [path.stem for path in sorted((DOCS / "lessons").glob("*.md"))]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        reference_pages = pool.submit(_reference, stage)
        outcomes = list(pool.map(lambda name: _lesson(name, stage / "lessons"), names))
        outcomes.append(reference_pages.result())
    if wrong := [str(why) for why in outcomes if why]:
        raise BookError("\n".join(wrong))
    result = subprocess.run(["mdbook", "build", stage, "--dest-dir", out], capture_output=True, text=True)
    if result.returncode or re.search(r"WARN|ERROR", result.stderr):
        raise BookError(result.stderr.strip())
    links.check(out)


def _lesson(name: str, folder: Path) -> BookError | None:
    """Write page, figures and notebook of a lesson; return its error, to be reported with those of the other lessons."""
    file = Path(f"docs/lessons/{name}.md")
    try:
        parts = lesson.parts(str(file), (ROOT / file).read_text(encoding="utf-8"))
        results = cells.run(name, parts, ROOT / "target/book-cells")
        text = page.page(name, parts, results, folder)
        (folder / file.name).write_text(sources.resolved(file, text), encoding="utf-8")
        notebook = page.notebook(parts, results)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = sources.resolved(file, cell.source, ".html")
        nbformat.write(notebook, folder / f"{name}.ipynb")
    except BookError as why:
        return why
    return None


def _reference(stage: Path) -> BookError | None:
    """Write the pages generated from the program; return the error."""
    try:
        for name, text in reference.pages().items():
            (stage / name).write_text(text, encoding="utf-8")
    except BookError as why:
        return why
    return None


main()
