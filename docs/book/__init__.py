"""Build the book: see `docs/build`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class BookError(Exception):
    """Errors in the book, with file and line."""
