"""What the texts show works as it stands there, on few points."""

import re
import textwrap

import kolmo
import pytest
from conftest import ROOT


@pytest.mark.filterwarnings("error:nothing was written")
@pytest.mark.parametrize("name", ["README.md", "python/README.md", "docs/python.md", "python/kolmo/__init__.py"])
def test_every_block_of_python_runs_in_the_order_in_which_it_stands(name, monkeypatch, tmp_path):
    """A name, an argument or an attribute that the package does not have; fields of a time at which a run shown above writes none."""
    run, made = kolmo.run, []

    def reduced(config, changes=None, **keys):
        few = {"output.statistics": {"every_steps": 10, "quantities": ["spectra"]}}
        if config == "taylor-green":
            keys["grid__points"] = [16, 16, 16]
        made.append(run(config, few | (changes or {}), **keys))
        return made[-1]

    monkeypatch.setattr(kolmo, "run", reduced)
    (tmp_path / "my.toml").write_text(
        '[case]\nname = "taylor-green"\n[grid]\npoints = [16, 16, 16]\n[time]\nend = 1.0\n', encoding="utf-8"
    )
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    if name.endswith(".py"):
        blocks = [textwrap.dedent("\n".join(re.findall(r"^    .*", kolmo.__doc__, re.MULTILINE)))]
    assert blocks
    known: dict[str, object] = {}
    for block in blocks:
        exec(block, known)
    assert made
