"""Makes the modules that build the book from this checkout importable; lessons run with fake programs."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "python")]


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Creates a program `kolmo` from a line of shell, for the lessons of the test."""

    def make(line):
        path = tmp_path / "kolmo"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        monkeypatch.setenv("KOLMO_PROGRAM", str(path))

    make("true")
    return make
