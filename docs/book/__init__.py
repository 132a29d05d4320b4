"""Makes the book: see `docs/build`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class BookError(Exception):
    """What is wrong with the book, in sentences that name file and line."""
