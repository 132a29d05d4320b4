"""The Python examples of the documentation run as printed, on few points."""

import re
import textwrap

import kolmo
import pytest
from conftest import ROOT


@pytest.mark.filterwarnings("error:nothing was written")
@pytest.mark.parametrize("name", ["README.md", "python/README.md", "docs/python.md", "python/kolmo/__init__.py"])
def test_the_python_blocks_of_a_text_run_in_order(name, monkeypatch, tmp_path):
    """Catches missing names, arguments and attributes of the package, and fields at a time at which the run of an example writes none."""
    run, runs = kolmo.run, []

    def reduced(config, changes=None, **keys):
        few = {"output.statistics": {"every_steps": 10, "quantities": ["spectra"]}}
        if config == "taylor-green":
            keys["grid__points"] = [16, 16, 16]
        runs.append(run(config, few | (changes or {}), **keys))
        return runs[-1]

    monkeypatch.setattr(kolmo, "run", reduced)
    (tmp_path / "my.toml").write_text(
        '[case]\nname = "taylor-green"\n[grid]\npoints = [16, 16, 16]\n[time]\nend = 1.0\n', encoding="utf-8"
    )
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    if name.endswith(".py"):
        blocks = [textwrap.dedent("\n".join(re.findall(r"^    .*", kolmo.__doc__, re.MULTILINE)))]
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    assert runs
