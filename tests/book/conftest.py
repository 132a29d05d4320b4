"""The modules that make the book, from this checkout; lessons are carried out by programs that a test makes up."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "python")]


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes a program `kolmo` of a line of shell, which the lessons of the test then find."""

    def make(line):
        path = tmp_path / "kolmo"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        monkeypatch.setenv("KOLMO_PROGRAM", str(path))

    make("true")
    return make
