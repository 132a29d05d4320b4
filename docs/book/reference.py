"""Reference pages generated from the program: its keys, commands and output.

The keys of a section and the values allowed for a key are taken from the error messages for wrong keys and values; defaults are those
of the resolved input of a run; the meaning of a key is the documentation of its field in the code, or its row in the user guide.
"""

import os
import re
import subprocess
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import kolmo
from kolmo import columns, toml

from book import DOCS, ROOT, BookError, sources

WRONG = "@"
# The structs of sections that are read key by key.
STRUCTS = {
    "grid": ["GridConfig"],
    "gas": ["Gas"],
    "boundary.x.low": ["Wall", "Open", "Stream"],
    "scheme": ["SchemeConfig"],
    "scheme.filter": ["FilterConfig"],
    "time": ["TimeConfig"],
    "time.implicit": ["ImplicitConfig"],
    "compute": ["ComputeConfig"],
    "compute.sweeps": ["SweepConfig"],
    "output": ["OutputConfig"],
    "output.series": ["Schedule"],
    "output.fields": ["Schedule", "FieldsConfig"],
    "output.fields.region": ["Region"],
    "output.planes": ["Schedule", "PlanesConfig"],
    "output.statistics": ["Schedule", "StatisticsConfig"],
    "output.checkpoint": ["Schedule", "CheckpointConfig"],
}
# Chapters of the user guide.
CHAPTERS = {
    "grid.stretching.y": "stretched-grids",
    "grid.mapping": "curvilinear-grids",
    "boundary.x.low": "open-faces",
    "forcing": "forced-turbulence",
    "scalars.dye": "passive-scalars",
    "time.implicit": "implicit-steps",
    "output.statistics": "statistics",
    "output.checkpoint": "checkpoints-and-restarts",
}
# An input whose run writes all kinds of output, for defaults and files.
ALL = [
    *("grid.points=[16, 16, 16]", "time.max_steps=1", "scheme.filter={ order = 8, alpha = 0.495 }"),
    "output.fields={ every_steps = 1 }",
    "output.planes={ every_steps = 1, z = [0.0] }",
    "output.statistics={ every_steps = 1 }",
    "output.checkpoint={ every_steps = 1 }",
]


@dataclass(frozen=True)
class Section:
    """A table of the input; `given` are the keys that select its variant."""

    path: str
    title: str
    given: tuple[str, ...] = ()
    case: str = "taylor-green"


def pages() -> dict[str, str]:
    """Return the pages by their names.

    Raises:
        BookError: A message of the program has an unexpected form, or a key or column has no documented meaning.
    """
    return {"input.md": _input(), "output.md": _output(), "commands.md": _commands()}


def _input() -> str:
    with ThreadPoolExecutor(4) as pool, tempfile.TemporaryDirectory() as scratch:
        defaults = pool.submit(_resolved, "taylor-green", ALL, Path(scratch) / "all")
        sections = _sections()
        tables = list(pool.map(_keys, sections))
        cases = list(kolmo.cases())
        of_cases = list(pool.map(lambda case: _resolved(case, _few(case), Path(scratch) / case), cases))
        keys_of_cases = list(pool.map(lambda case: _keys(Section("case", case, case=case)), cases))
    text = [
        "# Keys of an input\n",
        "This page is generated from the program: the keys of each section, the allowed values, the defaults.",
        "The [user guide](user-guide.md#input) explains them.\n",
    ]
    for section, keys in zip(sections, tables, strict=True):
        chapter = CHAPTERS.get(section.path)
        link = f"[In the user guide](user-guide.md#{chapter})\n\n" if chapter else ""
        text += [f"## {section.title}\n", link + _table(section, keys, defaults.result())]
    text += ["## Keys of the cases\n", "In addition to `name`, `mach` and `reynolds`, which all flows have.\n"]
    for case, keys, resolved in zip(cases, keys_of_cases, of_cases, strict=True):
        text.append(f"### {case}\n\n{kolmo.cases()[case]}. [Its page](cases/{case}.md)\n")
        own = {key: allowed for key, allowed in keys.items() if key != "name"}
        text.append(_table(Section("case", case, case=case), own, resolved))
    return "\n".join(text)


def _sections() -> list[Section]:
    """Return the tables of an input; a table whose keys depend on a word, such as `kind`, is listed once per word."""

    def by_word(key: str, but: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        words = re.findall(r"`([^`]+)`", _allowed("taylor-green", (), key))
        return [(word, f"{key}={word}") for word in words if word not in but]

    found = [Section("grid", "`[grid]`")]
    for word, given in by_word("grid.stretching.y.map"):
        found.append(Section("grid.stretching.y", f'`grid.stretching`, map = "{word}"', (given,)))
    for word, given in by_word("grid.mapping.kind"):
        found.append(Section("grid.mapping", f'`grid.mapping`, kind = "{word}"', (given,)))
    found.append(Section("gas", "`[gas]`"))
    for word, given in by_word("gas.viscosity.law", but=("constant",)):
        found.append(Section("gas.viscosity", f'`gas.viscosity`, law = "{word}"', (given,)))
    for word, given in by_word("boundary.x.low.kind"):
        # Without the velocity the program does not report the other keys of the state beyond a face.
        stream = ("boundary.x.low.velocity=[1.0, 0.0, 0.0]",) if word in {"inflow", "far-field"} else ()
        found.append(Section("boundary.x.low", f'`[boundary]`, an end with kind = "{word}"', (given, *stream)))
    for word, given in by_word("forcing.kind", but=("none",)):
        found.append(Section("forcing", f'`[forcing]`, kind = "{word}"', (given,)))
    paths = ("scheme", "scheme.filter", "time", "time.implicit", "compute", "compute.sweeps", "output")
    found += [Section(path, f"`[{path}]`") for path in paths]
    found += [
        Section(f"output.{name}", f"`output.{name}`")
        for name in ("series", "fields", "fields.region", "planes", "statistics", "checkpoint")
    ]
    return [*found, Section("scalars.dye", "`[scalars.NAME]`")]


def _keys(section: Section) -> dict[str, str]:
    """Return the keys of a section with the allowed values of each."""
    unknown = "no_such_key"
    errors = _errors(section.case, [*section.given, f"{section.path}.{unknown}={WRONG}"])
    takes = next(
        (re.search(r" takes (.*)", line) for line in errors if f"unknown key `{unknown}` in [{section.path}]" in line), None
    )
    if takes is None:
        raise BookError(f"`kolmo` does not report the keys of [{section.path}]: {' / '.join(errors)}")
    keys = re.findall(r"`(\w+)`", takes[1])
    return {key: _allowed(section.case, section.given, f"{section.path}.{key}") for key in keys}


def _allowed(case: str, given: tuple[str, ...], path: str) -> str:
    """Return the allowed values of a key, from the error message for another value."""
    for value in (WRONG, "[]"):
        # A given value of the key itself would be applied first.
        others = [one for one in given if not one.startswith(f"{path}=")]
        for line in _errors(case, [*others, f"{path}={value}"]):
            if f"--set {path}={value}: " not in line or "unknown key" in line:
                continue
            for words in (r" allowed: (.*)", r"must be (.*)", r"(?:is|has|stands) .*"):
                if found := re.search(words, line.split(f"--set {path}={value}: ", 1)[1]):
                    return found[1] if found.groups() else ""
    return "text"


def _errors(case: str, sets: list[str]) -> list[str]:
    """Return the errors of an input, each on one line."""
    command = [os.environ["KOLMO_PROGRAM"], "info", "--plan", case]
    ran = subprocess.run([*command, *_set(sets)], capture_output=True, text=True)
    return re.sub(r"\n {7}", " ", ran.stderr).splitlines()


def _few(case: str) -> list[str]:
    """Return the options of a short run on a small grid that is valid for the case."""
    wanted = kolmo.config(case)["grid"]["points"]
    few = [min(points, 64 if case == "aerofoil" else 24) for points in wanted]
    return [f"grid.points={few}", "time.max_steps=1", "output.fields=none"]


def _resolved(case: str, sets: list[str], out: Path) -> dict:
    """Return the input of a run with all defaults."""
    command = [os.environ["KOLMO_PROGRAM"], "run", case, "--out", out, "--backend", "cpu"]
    ran = subprocess.run([*command, *_set(sets)], capture_output=True, text=True)
    if ran.returncode:
        raise BookError(f"`kolmo run {case}` for its defaults: {ran.stderr.strip()}")
    return tomllib.loads((out / "config.toml").read_text(encoding="utf-8"))


def _set(sets: list[str]) -> list[str]:
    return [word for one in sets for word in ("--set", one)]


def _table(section: Section, keys: dict[str, str], resolved: dict) -> str:
    lines = ["| key | default | allowed | |", "|---|---|---|---|"]
    for key, allowed in keys.items():
        cells = [f"`{key}`", _default(f"{section.path}.{key}", resolved), _cell(allowed), _cell(_meaning(section, key))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _default(path: str, resolved: dict) -> str:
    """Return the value of a key in a resolved input; empty if the run was given a value."""
    found: object = resolved
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return "" if found is None or isinstance(found, dict) or path in _given() else f"`{toml.value(found, path)}`"


@cache
def _given() -> set[str]:
    """Return the keys that `ALL` sets, including those of its tables."""
    given = set()
    for one in ALL:
        path, _, value = one.partition("=")
        table = tomllib.loads(f"it = {value}")["it"]
        given |= {path, *(f"{path}.{key}" for key in (table if isinstance(table, dict) else ()))}
    return given


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _meaning(section: Section, key: str) -> str:
    """Return the meaning of a key; empty for a word that selects the variant of the section, if the user guide does not list it."""
    if any(one.startswith(f"{section.path}.{key}=") for one in section.given) and f"{section.path}.{key}" not in _guide():
        return ""
    structs = STRUCTS.get(section.path, [])
    if section.path == "case":
        structs = _struct_of_case(section.case)
    found = next((of[key] for struct in structs if key in (of := _fields().get(struct, {}))), None)
    return found or _guide().get(f"{section.path}.{key}") or _guide().get(key) or ""


@cache
def _fields() -> dict[str, dict[str, str]]:
    """Return the documentation of the public fields of all structs."""
    structs: dict[str, dict[str, str]] = {}
    for path in sorted((ROOT / "src").rglob("*.rs")):
        for struct in re.finditer(r"^pub struct (\w+) \{\n(.*?)^\}", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            fields = re.finditer(r"((?: +///[^\n]*\n)+)(?: +#\[[^\n]*\]\n)* +pub(?:\([^)]*\))? (?:r#)?(\w+):", struct[2])
            structs[struct[1]] = {field[2]: _plain(field[1]) for field in fields}
    return structs


def _plain(documentation: str) -> str:
    """Return a doc comment as one line of Markdown, with intra-doc links as plain code."""
    text = " ".join(line.strip().removeprefix("///").strip() for line in documentation.strip().splitlines())
    return re.sub(r"\[`([^\]]*)`\](\([^)]*\))?", r"`\1`", text)


def _struct_of_case(case: str) -> list[str]:
    """Return the names of the structs in the file of a case, one of which contains its parameters."""
    for path in sorted((ROOT / "src/cases").rglob("*.rs")):
        text = path.read_text(encoding="utf-8")
        if f'name: "{case}"' in text:
            return re.findall(r"^pub struct (\w+)", text, re.MULTILINE)
    return []


@cache
def _guide() -> dict[str, str]:
    """Return the rows of the tables in the user guide by their keys."""
    rows: dict[str, str] = {}
    text = sources.resolved(Path("docs/user-guide.md"), (DOCS / "user-guide.md").read_text(encoding="utf-8"))
    for line in text.replace("](#", "](user-guide.md#").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if line.startswith("| `") and len(cells) == 3:
            for key in re.findall(r"`([\w.]+)`", cells[0]):
                rows.setdefault(key, cells[2])
    return rows


def _output() -> str:
    text = [
        "# Output of a run\n",
        "Names, units and meanings are those of the Python package; the files are those of a run with all kinds of output.\n",
    ]
    for title, meanings in (("Fields", columns.FIELDS), ("Columns of `series.csv`", columns.SERIES)):
        text += [f"## {title}\n", _meanings(meanings)]
    text.append("## Columns of `statistics/`\n")
    for name, meanings in columns.STATISTICS.items():
        text += [f"### `{name}.csv`\n", _meanings(meanings)]
    with tempfile.TemporaryDirectory() as scratch:
        _resolved("taylor-green", ALL, Path(scratch) / "run")
        listed = (Path(scratch) / "run/manifest.txt").read_text(encoding="utf-8")
        written = (Path(scratch) / "run/series.csv").read_text(encoding="utf-8").split("\n", 1)[0].split(",")
    if missing := [name for name in written if name not in columns.SERIES]:
        raise BookError(f"series.csv has columns without a meaning: {', '.join(missing)}")
    files = "\n".join(line for line in listed.splitlines() if not line.startswith("#"))
    return "\n".join([*text, "## Files\n", f"Files of the run `taylor-green` with `{'`, `'.join(ALL)}`:\n", f"```text\n{files}\n```\n"])


def _meanings(meanings: dict[str, columns.Meaning]) -> str:
    rows = [f"| `{name}` | {_cell(of.unit)} | {_cell(of.what)} |" for name, of in meanings.items()]
    return "\n".join(["| name | unit | |", "|---|---|---|", *rows, ""])


def _commands() -> str:
    text = ["# Commands\n", "The output of `kolmo COMMAND --help`.\n"]
    for command in _subcommands([]):
        parts = [[command], *([command, part] for part in _subcommands([command]))]
        for words in parts:
            text.append(f"{'#' * (1 + len(words))} `kolmo {' '.join(words)}`\n\n```text\n{_help(words)}\n```\n")
    return "\n".join(text)


def _subcommands(words: list[str]) -> list[str]:
    listed = re.search(r"^Commands:\n(.*?)^$", _help(words) + "\n", re.DOTALL | re.MULTILINE)
    return [name for name in re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if name != "help"] if listed else []


def _help(words: list[str]) -> str:
    return subprocess.run(
        [os.environ["KOLMO_PROGRAM"], *words, "--help"], capture_output=True, text=True, check=True
    ).stdout.strip()
