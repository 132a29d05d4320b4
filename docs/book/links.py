"""Check every link of the finished book."""

import urllib.parse
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from book import BookError

LOADED = {"script", "img", "link", "iframe", "source"}
# Address that the script of mdBook loads if a block of Rust can be run.
PLAYGROUND = "https://play.rust-lang.org"


class _Page(HTMLParser):
    """The anchors of a page, and the targets of its links and resources."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            if name in {"href", "src"} and value is not None:
                self.targets.append((tag, value))
            if name == "class" and "playground" in (value or "").split():
                self.targets.append(("script", PLAYGROUND))


def check(book: Path) -> None:
    """Check every page of the folder `book`.

    Raises:
        BookError: A page links to a missing file or anchor, or loads something from the network.
    """
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in book.rglob("*.html")}
    wrong = [f"{path.relative_to(book)}: {fault}" for path, page in sorted(pages.items()) for fault in _faults(path, page, pages)]
    if wrong:
        raise BookError("the book has errors:\n" + "\n".join(wrong))


def _faults(path: Path, page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    for tag, link in page.targets:
        to = urllib.parse.urlsplit(link)
        if to.scheme or to.netloc:
            if tag in LOADED and to.scheme != "data":
                yield f"loads {link}"
            continue
        file = path if not to.path else (path.parent / urllib.parse.unquote(to.path)).resolve()
        if not file.is_file():
            yield f"dead link {link}"
        elif to.fragment and file in pages and urllib.parse.unquote(to.fragment) not in pages[file].anchors:
            yield f"dead anchor {link}"
