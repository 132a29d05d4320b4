"""What `packaging/` tells and does beside recipes, which `tests/packaging.rs` reads."""

import importlib.util
import io
import re
import subprocess
import tarfile
from importlib.machinery import SourceFileLoader

import kolmo
from conftest import ROOT


def test_every_page_of_the_manual_that_a_page_names_is_installed(tmp_path):
    """A folder that is not made; pages that are named and lack."""
    recipe = (ROOT / "packaging/README.md").read_text(encoding="utf-8").split("**2. Manual pages and shell completion", 1)[1]
    commands = re.search(r"```text\n(.*?)```", recipe, re.DOTALL)[1].replace("/opt/kolmo", str(tmp_path))
    subprocess.run(["bash", "-euc", f'kolmo() {{ "{kolmo.program()}" "$@"; }}\n{commands}'], check=True)
    (man,) = tmp_path.glob("*/share/man/man1")
    pages = {page.stem: page.read_text(encoding="utf-8").replace("\\-", "-") for page in man.iterdir()}
    # A page of `help` names all commands once more.
    told = [page for name, page in pages.items() if not name.endswith("-help")]
    named = {name for page in told for name in re.findall(r"^(kolmo-\S+)\(1\)$", page, re.MULTILINE)}
    assert set(pages) == named | {"kolmo"} and len(named) > 15
    assert all(f".TH {name} 1 " in page for name, page in pages.items())
    assert list(tmp_path.glob("*/share/bash-completion/completions/kolmo"))


def test_sources_are_unpacked_where_archives_have_no_filters(tmp_path, monkeypatch):
    """A traceback with Python 3.11.2, as Debian 12 has it."""
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
    whole = tarfile.TarFile.extractall
    monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: whole(self, path))
    tree = tarball.unpack("HEAD", tmp_path)
    assert (tree / "Cargo.toml").read_bytes() == manifest and tree.name == "kolmo-9.9.9"
