"""Instructions and scripts in `packaging/`; `tests/packaging.rs` tests the recipes."""

import importlib.util
import io
import re
import subprocess
import tarfile
from importlib.machinery import SourceFileLoader

import kolmo
from conftest import ROOT


def test_every_referenced_manual_page_is_installed(tmp_path):
    """Catches a folder that is not created, and references to missing pages."""
    recipe = (ROOT / "packaging/README.md").read_text(encoding="utf-8").split("**2. Manual pages and shell completion", 1)[1]
    commands = re.search(r"```text\n(.*?)```", recipe, re.DOTALL)[1].replace("/opt/kolmo", str(tmp_path))
    subprocess.run(["bash", "-euc", f'kolmo() {{ "{kolmo.program()}" "$@"; }}\n{commands}'], check=True)
    (man,) = tmp_path.glob("*/share/man/man1")
    pages = {page.stem: page.read_text(encoding="utf-8").replace("\\-", "-") for page in man.iterdir()}
    # The pages of `help` list all commands again.
    listing = [page for name, page in pages.items() if not name.endswith("-help")]
    named = {name for page in listing for name in re.findall(r"^(kolmo-\S+)\(1\)$", page, re.MULTILINE)}
    assert set(pages) == named | {"kolmo"} and len(named) > 15
    assert all(f".TH {name} 1 " in page for name, page in pages.items())
    assert list(tmp_path.glob("*/share/bash-completion/completions/kolmo"))


def test_sources_are_unpacked_by_a_python_without_extraction_filters(tmp_path, monkeypatch):
    """Catches a traceback with Python 3.11.2, the version of Debian 12."""
    loader = SourceFileLoader("tarball", str(ROOT / "packaging/tarball"))
    tarball = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader.exec_module(tarball)
    manifest, packed = b'[package]\nversion = "9.9.9"\n', io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        entry = tarfile.TarInfo("Cargo.toml")
        entry.size = len(manifest)
        files.addfile(entry, io.BytesIO(manifest))
    monkeypatch.setattr(tarball, "output", lambda *command: manifest if "show" in command else packed.getvalue())
    monkeypatch.delattr(tarfile, "data_filter")
    original = tarfile.TarFile.extractall
    monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: original(self, path))
    tree = tarball.unpack("HEAD", tmp_path)
    assert (tree / "Cargo.toml").read_bytes() == manifest and tree.name == "kolmo-9.9.9"
