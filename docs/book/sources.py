"""Collect the Markdown of the book: pages of docs/, those of the cases, and the files of the repository that they link to.

Pages of docs/ keep their paths; any other file keeps its path in the repository, and a source file becomes a page that shows it.
"""

import os
import re
import shutil
from pathlib import Path

from book import DOCS, ROOT, BookError

# Code, which contains no links, or a link with its target.
LINK = re.compile(
    r"(?P<code>^ *(?P<fence>`{3,}).*?^ *(?P=fence) *$|(?P<ticks>`+)(?!`)[^`]+?(?P=ticks))|(?<=\]\()(?P<target>[^)\s]+)(?=\))",
    re.DOTALL | re.MULTILINE,
)
LANGUAGES = {".rs": "rust", ".py": "python", ".toml": "toml", ".cu": "c", ".cl": "c"}
PICTURES = {".png", ".svg", ".jpg"}
EXPLORABLES_DIST = ROOT / "explorables/dist"
# Placeholders in SUMMARY.md for generated pages.
EXPLORABLES, REFERENCE, CASES, FILES = (f"<!-- {name} -->" for name in ("explorables", "reference", "cases", "files"))
PAGES = {"Keys of an input": "input.md", "Output of a run": "output.md", "Commands": "commands.md"}


def lay_out(stage: Path) -> None:
    """Write everything except the lessons to the new folder `stage`.

    Raises:
        BookError: A page links to a missing file.
    """
    (stage / "lessons").mkdir(parents=True)
    cases = [f"cases/{name}/README.md" for name in _case_names()]
    shown: set[str] = set()
    pages = [path.relative_to(ROOT) for path in DOCS.glob("*.md") if path.name != "SUMMARY.md"]
    for path in [*pages, *map(Path, cases)]:
        text = (ROOT / path).read_text(encoding="utf-8")
        _write(stage / place(path), resolved(path, text))
        shown |= {target for target in _targets(path, text) if not target.endswith(".md")}
    for path in (DOCS / "lessons").glob("*.md"):
        path = path.relative_to(ROOT)
        shown |= {target for target in _targets(path, (ROOT / path).read_text(encoding="utf-8")) if not target.endswith(".md")}
    files = sorted(path for path in shown if Path(path).suffix not in PICTURES)
    for path in shown:
        _show(path, stage)
    summary = (DOCS / "SUMMARY.md").read_text(encoding="utf-8")
    for path in sorted((DOCS / "lessons").glob("*.md")):
        if f"(lessons/{path.name})" not in summary:
            raise BookError(f"docs/SUMMARY.md: no line for lessons/{path.name}")
    for mark, lines in (
        (EXPLORABLES, _explorables(stage)),
        (REFERENCE, [f"- [{title}]({page})" for title, page in PAGES.items()]),
        (CASES, [f"  - [{Path(path).parts[1]}]({place(Path(path))})" for path in cases]),
        (FILES, [f"  - [{path}]({place(Path(path))})" for path in files]),
    ):
        if mark not in summary:
            raise BookError(f"docs/SUMMARY.md: no line {mark}")
        summary = summary.replace(mark, "\n".join(lines))
    _write(stage / "SUMMARY.md", summary)
    shutil.copyfile(DOCS / "book.toml", stage / "book.toml")
    shutil.copytree(DOCS / "style", stage / "style")


def _explorables(stage: Path) -> list[str]:
    """Copy the pages of `explorables/dist`, if they have been built, and write a page that links to them."""
    dist = EXPLORABLES_DIST
    if dist.is_dir():
        shutil.copytree(dist, stage / "explorables")
    titles = {
        path.name: re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8")) for path in sorted(dist.glob("*.html"))
    }
    links = [f"- [{title[1] if title else name}](explorables/{name})" for name, title in titles.items() if name != "index.html"]
    if not links:
        links = ["They are not in this book yet: run `explorables/build`, then `docs/build`."]
    _write(
        stage / "explorables.md",
        "\n".join(["# Explorables\n", "Interactive pages: Kolmo itself, compiled for the browser.\n", *links, ""]),
    )
    return ["- [Explorables](explorables.md)"]


def place(path: Path) -> Path:
    """Return the path in the book of a file of the repository."""
    if path.is_relative_to("docs"):
        return path.relative_to("docs")
    if path.name == "README.md":
        return path.parent.with_suffix(".md")
    return path if path.suffix in {".md", *PICTURES} else Path(f"{path}.md")


def resolved(path: Path, text: str, suffix: str = ".md") -> str:
    """Return the text of the file `path` of the repository with its links adapted to the book, whose pages end with `suffix`."""

    def link(match: re.Match[str]) -> str:
        target = match["target"]
        if target is None or not _is_file(target):
            return match[0]
        file, mark, anchor = target.partition("#")
        to = place(_file(path, file))
        if to.suffix == ".md":
            to = to.with_suffix(suffix)
        return os.path.relpath(to, place(path).parent) + mark + anchor

    return LINK.sub(link, text)


def _targets(path: Path, text: str) -> list[str]:
    """Return the files of the repository that a text links to."""
    targets = [match["target"] for match in LINK.finditer(text) if match["target"] and _is_file(match["target"])]
    files = [_file(path, target.partition("#")[0]) for target in targets]
    if missing := [str(file) for file in files if not (ROOT / file).is_file()]:
        raise BookError(f"{path}: links to missing files: {', '.join(missing)}")
    return [str(file) for file in files]


def _is_file(target: str) -> bool:
    return not target.startswith("#") and "://" not in target


def _file(path: Path, target: str) -> Path:
    return Path(os.path.normpath(path.parent / target))


def _show(path: str, stage: Path) -> None:
    """Copy a picture, or write a page with the text of a file."""
    to = stage / place(Path(path))
    if to.suffix in PICTURES:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, to)
        return
    text = (ROOT / path).read_text(encoding="utf-8")
    _write(to, f"# {path}\n\n```{LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n```\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _case_names() -> list[str]:
    import kolmo

    return list(kolmo.cases())
