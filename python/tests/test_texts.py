"""What the texts show works as it stands there, on few points and for few steps."""

import re

import kolmo
import pytest
from conftest import ROOT


@pytest.mark.parametrize("name", ["README.md", "python/README.md", "docs/python.md"])
def test_every_block_of_python_runs_in_the_order_in_which_it_stands(name, monkeypatch, tmp_path):
    """A name, an argument or an attribute that the package does not have."""
    run, made = kolmo.run, []

    def reduced(config, changes=None, **keys):
        few = {"time.max_steps": 2, "output.fields": {"every_steps": 1, "variables": "all"}}
        few |= {"output.statistics": {"every_steps": 1, "quantities": ["spectra"]}}
        made.append(run(config, few | (changes or {}), **keys))
        return made[-1]

    monkeypatch.setattr(kolmo, "run", reduced)
    (tmp_path / "my.toml").write_text(
        '[case]\nname = "taylor-green"\n[grid]\npoints = [16, 16, 16]\n[time]\nend = 1.0\n', encoding="utf-8"
    )
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    known: dict[str, object] = {}
    for block in blocks:
        exec(block, known)
    assert made
