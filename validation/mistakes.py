#!/usr/bin/env python3
"""Mutation test: check that `kolmo verify` finds planted mistakes. Standard library only (Python 3.11).

validation/mistakes.toml lists mistakes, each a text that occurs once in a file, of which ⟦this part⟧, or all, is replaced. The tree is
copied to target/mistakes and built twice, because a build takes longer than the checks:

- mistakes in code are all planted in one program, each behind a switch, so that the variable KOLMO_MISTAKE turns one of them on;
  before that, the program must pass with all of them off, in every configuration in which one is tried;
- mistakes in tables of constants, which have no switch, are planted together. Each names the checks that no other part of
  the tables can make fail (`checks`), and only these count.

A mistake is caught if a check fails or the run stops itself. Results are kept in target/mistakes/found.json, so that the
list can be processed in parts.

    validation/mistakes.py --check           check that every text occurs once; nothing is built
    validation/mistakes.py                   try all that have not been tried yet
    validation/mistakes.py NAME...           try these, again if necessary
    validation/mistakes.py --table           print the results as Markdown
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mistakes"
TREE = WORK / "tree"
FOUND = WORK / "found.json"
# Seconds, longer than full checks take; a mistake may make a run hang.
LIMIT = 1800
# Open MPI: ranks share cores and yield while they wait, root may start them, and a rank whose exit is noticed before its
# MPI_Finalize has not failed. MPICH needs none of these.
RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_orte_allowed_exit_without_sync": "1",
}
# The active mistake, for the library and for the text of every kernel.
SWITCH = """
/// The number of the mistake that is switched on.
pub(crate) fn mistake() -> usize {
    static ON: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| {
        std::env::var("KOLMO_MISTAKE").ok().and_then(|on| on.parse().ok()).unwrap_or(usize::MAX)
    });
    *ON
}
"""
KERNELS = ("src/backend/device/text.rs", 'text: format!("{define}{PRELUDE}\\n")',
           'text: format!("#define MISTAKE {}\\n{define}{PRELUDE}\\n", (crate::mistake() as u32).cast_signed())')


class Mistake:
    def __init__(self, number, entry):
        self.number, self.name, self.file = number, entry["name"], entry["file"]
        part = re.fullmatch("(.*)⟦(.*)⟧(.*)", entry["find"], re.DOTALL)
        self.before, self.right, self.after = part.groups() if part else ("", entry["find"], "")
        self.wrong, self.checks = entry["replace"], entry.get("checks", [])
        self.families, self.ranks = entry["families"], entry.get("ranks", 1)
        self.backend, self.full = entry.get("backend", "cpu"), entry.get("full", False)

    def place(self, text):
        """Return the position of the right text in its file."""
        context = self.before + self.right + self.after
        if text.count(context) != 1:
            sys.exit(f"{self.name}: `{context}` occurs {text.count(context)} times in {self.file}, not once")
        return text.index(context) + len(self.before)

    def planted(self):
        """Return the replacement of the right text."""
        if self.checks:
            return self.wrong
        if self.file.endswith(".cu"):
            return f"\n#if MISTAKE == {self.number}\n{self.wrong}\n#else\n{self.right}\n#endif\n"
        return f"{{ if crate::mistake() == {self.number} {{ {self.wrong} }} else {{ {self.right} }} }}"


def read_list():
    with open(ROOT / "validation" / "mistakes.toml", "rb") as file:
        mistakes = [Mistake(number, entry) for number, entry in enumerate(tomllib.load(file)["mistake"])]
    names = [mistake.name for mistake in mistakes]
    if len(set(names)) != len(names):
        sys.exit("two mistakes have the same name")
    own = [prefix for mistake in mistakes for prefix in mistake.checks]
    for prefix in own:
        if sum(other.startswith(prefix) for other in own) != 1:
            sys.exit(f"two mistakes name the checks `{prefix}...`")
    for mistake in mistakes:
        mistake.place((ROOT / mistake.file).read_text())
    return mistakes


def plant(mistakes):
    """Copy the files known to git with these mistakes; unchanged files are not rewritten, so that the build is incremental."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        if not (ROOT / name).is_file():
            continue
        copy, content = TREE / name, (ROOT / name).read_bytes()
        own = [mistake for mistake in mistakes if mistake.file == name]
        if own or name in ("src/lib.rs", KERNELS[0]):
            text = content.decode()
            # From the last position to the first, so that the other positions stay valid.
            for at, mistake in sorted(((mistake.place(text), mistake) for mistake in own), key=lambda one: -one[0]):
                text = text[:at] + mistake.planted() + text[at + len(mistake.right):]
            content = (text + SWITCH if name == "src/lib.rs" else text.replace(*KERNELS[1:])).encode()
        if not copy.exists() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)


def build(mistakes, to):
    plant(mistakes)
    command = ["cargo", "build", "--locked", "--release", "--bin", "kolmo", "--target-dir", str(WORK / "build")]
    environment = os.environ | {"CARGO_INCREMENTAL": "1"}
    built = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit("the build failed:\n" + built.stderr[-3000:])
    shutil.copy2(WORK / "build" / "release" / "kolmo", to)


def verify(program, families, switched=None, backend="cpu", ranks=1, full=False):
    """Return the outcome and the names of the failed checks."""
    command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    command += [str(program), "verify", "--json", "--backend", backend, *([] if full else ["--quick"]), *families]
    environment = os.environ | RANKS | ({} if switched is None else {"KOLMO_MISTAKE": str(switched)})
    try:
        process = subprocess.run(command, cwd=WORK, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "caught: time limit", []
    if process.returncode == 0:
        return "missed", []
    try:
        failed = [check["name"] for check in json.loads(process.stdout)["checks"] if not check["passed"]]
    except json.JSONDecodeError:
        last = (process.stderr.strip().splitlines() or ["no output"])[-1]
        return f"caught: the run stopped with {last!r}", []
    return f"caught by {len(failed)} checks", failed


def attempt(mistakes):
    """Yield each mistake with its outcome and failed checks."""
    switched = [mistake for mistake in read_list() if not mistake.checks]
    program = WORK / "kolmo-switched"
    selected = [mistake for mistake in mistakes if not mistake.checks]
    if selected:
        build(switched, program)
        configurations = sorted({(mistake.backend, mistake.ranks, mistake.full) for mistake in selected})
        for configuration in configurations:
            tried = [mistake for mistake in selected if (mistake.backend, mistake.ranks, mistake.full) == configuration]
            families = sorted({family for mistake in tried for family in mistake.families})
            outcome, failed = verify(program, families, None, *configuration)
            if outcome != "missed":
                sys.exit(f"checks fail with all mistakes switched off in configuration {configuration}, {outcome}: {failed}")
    for mistake in selected:
        yield mistake, *verify(program, mistake.families, mistake.number, mistake.backend, mistake.ranks, mistake.full)
    selected = [mistake for mistake in mistakes if mistake.checks]
    if selected:
        program = WORK / "kolmo-tables"
        build(read_list(), program)
        outcome, failed = verify(program, sorted({family for mistake in selected for family in mistake.families}))
        if not failed:
            sys.exit(f"mistakes in tables: {outcome}")
    for mistake in selected:
        own = [name for name in failed if name.startswith(tuple(mistake.checks))]
        yield mistake, f"caught by {len(own)} checks" if own else "missed", own


def table(mistakes, found):
    """Print the family of checks that found each mistake first, as in docs/validation.md."""
    rows = {}
    for mistake in mistakes:
        result = found.get(mistake.name, {"result": "not tried", "checks": []})
        place = " with ".join((["PoCL"] if mistake.backend == "opencl" else []) + ([f"{mistake.ranks} ranks"] if mistake.ranks > 1 else []))
        if result["checks"]:
            by = f"`{result['checks'][0].split('/')[0]}`"
        else:
            by = "the run stops itself" if result["result"].startswith("caught") else f"*{result['result']}*"
        rows.setdefault(by + (f" on {place}" if place else ""), []).append(mistake.name)
    print("| caught by | mistakes |\n|---|---|")
    for by, names in rows.items():
        print(f"| {by} | {', '.join(names)} |")

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    mistakes = read_list()
    names = [mistake.name for mistake in mistakes]
    unknown = [name for name in options.names if name not in names]
    if unknown:
        sys.exit(f"no such mistake: {', '.join(unknown)}")
    if options.check:
        print(f"{len(mistakes)} mistakes, each text occurs once")
        return
    WORK.mkdir(parents=True, exist_ok=True)
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    if options.table:
        return table(mistakes, found)
    selected = [m for m in mistakes if m.name in options.names or (not options.names and m.name not in found)]
    for mistake, outcome, checks in attempt(selected):
        found[mistake.name] = {"result": outcome, "checks": checks}
        FOUND.write_text(json.dumps(found, indent=1))
        print(f"{mistake.name:32} {outcome}: {', '.join(checks[:3])}", flush=True)
    results = [found[name]["result"] for name in names if name in found]
    caught = sum(result.startswith("caught") for result in results)
    missed = [name for name in names if name in found and not found[name]["result"].startswith("caught")]
    print(f"{caught} caught of {len(results)} tried, {len(mistakes)} in the list; missed: {', '.join(missed) or 'none'}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
