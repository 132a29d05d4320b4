#!/usr/bin/env python3
"""Whether `kolmo verify` finds planted mistakes. Standard library only (Python 3.11).

validation/mistakes.toml lists mistakes, each a text that occurs once in a file and what takes its place. The tree is copied
to target/mistakes, each mistake is planted there alone, the program is built, and its checks are run: a failed check, or a run
that stops itself, is a mistake caught. What was found is kept in target/mistakes/found.json, so that the list can be gone
through in parts.

    validation/mistakes.py --check           every text occurs once; nothing is built
    validation/mistakes.py                   all that have not been tried yet
    validation/mistakes.py NAME...           these, also where they were tried before
    validation/mistakes.py --first 5         five that have not been tried yet
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mistakes"
TREE = WORK / "tree"
FOUND = WORK / "found.json"
# Longer than full checks take; a mistake may make a run stall.
LIMIT = 1800


def read_list():
    with open(ROOT / "validation" / "mistakes.toml", "rb") as file:
        return tomllib.load(file)["mistake"]


def planted(mistake, text):
    count = text.count(mistake["find"])
    if count != 1:
        sys.exit(f"{mistake['name']}: `{mistake['find']}` occurs {count} times in {mistake['file']}, not once")
    return text.replace(mistake["find"], mistake["replace"])


def copy_tree():
    """The files that git knows, written only where they differ: what is built stays fresh."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        if not (ROOT / name).is_file():
            continue
        copy, content = TREE / name, (ROOT / name).read_bytes()
        if not copy.exists() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)


def build():
    command = ["cargo", "build", "--locked", "--release", "--target-dir", str(WORK / "build")]
    return subprocess.run(command, cwd=TREE, capture_output=True, text=True)


def run(mistake):
    """(how it ended, which checks failed)."""
    command = [str(WORK / "build" / "release" / "kolmo"), "verify", "--json"]
    command += ["--backend", mistake.get("backend", "cpu")]
    command += [] if mistake.get("full") else ["--quick"]
    command += mistake.get("families", [])
    try:
        done = subprocess.run(command, cwd=WORK, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "caught: it did not end", []
    if done.returncode == 0:
        return "missed", []
    try:
        failed = [check["name"] for check in json.loads(done.stdout)["checks"] if not check["passed"]]
    except json.JSONDecodeError:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return f"caught: it stopped with {last!r}", []
    return f"caught by {len(failed)} checks", failed


def attempt(mistake):
    source = TREE / mistake["file"]
    right = source.read_text()
    source.write_text(planted(mistake, right))
    try:
        built = build()
        if built.returncode != 0:
            return "does not build: " + built.stderr.strip()[-300:], []
        return run(mistake)
    finally:
        source.write_text(right)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--first", type=int)
    options = parser.parse_args()
    mistakes = read_list()
    for mistake in mistakes:
        planted(mistake, (ROOT / mistake["file"]).read_text())
    names = [mistake["name"] for mistake in mistakes]
    if len(set(names)) != len(names):
        sys.exit("two mistakes have one name")
    unknown = [name for name in options.names if name not in names]
    if unknown:
        sys.exit(f"no such mistake: {', '.join(unknown)}")
    if options.check:
        print(f"{len(mistakes)} mistakes, each text occurs once")
        return
    WORK.mkdir(parents=True, exist_ok=True)
    copy_tree()
    found = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    asked = [m for m in mistakes if m["name"] in options.names or (not options.names and m["name"] not in found)]
    for mistake in asked[: options.first]:
        how, checks = attempt(mistake)
        found[mistake["name"]] = {"result": how, "checks": checks}
        FOUND.write_text(json.dumps(found, indent=1))
        print(f"{mistake['name']:32} {how}: {', '.join(checks[:3])}", flush=True)
    results = [found[name]["result"] for name in names if name in found]
    caught = sum(result.startswith("caught") for result in results)
    missed = [name for name in names if name in found and not found[name]["result"].startswith("caught")]
    print(f"{caught} caught of {len(results)} tried, {len(mistakes)} in the list; missed: {', '.join(missed) or 'none'}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
