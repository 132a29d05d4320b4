"""The GPU campaign, with fake programs. The docstring of each test names the errors that only this test catches."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

import parts
from parts import Campaign, Command, InvalidResult, Part


@pytest.fixture
def gpu():
    """`benches/gpu` as a module."""
    loader = SourceFileLoader("gpu", str(ROOT / "benches" / "gpu"))
    module = module_from_spec(spec_from_loader("gpu", loader))
    loader.exec_module(module)
    return module


def shell(name, line, read=None):
    command = Command(name, ["sh", "-c", line])
    return command._replace(read=read) if read else command


def run(tmp_path, queue, limit=60, jobs=4):
    """Whether no part failed, and the results by part."""
    campaign = Campaign(tmp_path, limit, jobs=jobs)
    ok = campaign.run(queue)
    results = json.loads((tmp_path / "results.json").read_text())
    return ok, {result["part"]: result for result in results}


def test_failing_or_hanging_parts_do_not_stop_others_and_leave_no_processes(tmp_path, monkeypatch):
    """Catches a campaign that stops at the first failure, waits for a hanging command, or leaves a child process on the GPU."""
    monkeypatch.setattr(parts, "GRACE", 1)
    child = tmp_path / "child"
    hangs = shell("hangs", f"trap '' TERM; sleep 1000 & echo $! >{child}; wait; sleep 1000")
    began = time.monotonic()
    ok, results = run(
        tmp_path,
        [
            Part("fails", 10, [shell("one", "echo message >&2; exit 3"), shell("other", "echo 7", lambda out: {"seven": int(out)})]),
            Part("hangs", 1, [hangs]),
            Part("is missing", 10, [Command("none", ["./no-such-program"])]),
            Part("needs", 10, [shell("none", "true")], needs="no-such-tool"),
            Part("succeeds", 10, [shell("all", "true")]),
        ],
    )
    assert not ok and time.monotonic() - began < 20
    assert {name: result["status"] for name, result in results.items()} == {
        "fails": 3, "hangs": 124, "is missing": 127, "needs": None, "succeeds": 0,
    }  # fmt: skip
    assert results["fails"]["failed"] == {"one": "ended with 3: message"} and results["fails"]["numbers"] == {"other: seven": 7}
    assert "no-such-tool" in results["needs"]["left_out"]
    status = Path(f"/proc/{child.read_text().strip()}/stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"
    table = (tmp_path / "table.txt").read_text()
    assert [line.split()[-3] for line in table.splitlines() if line.startswith("succeeds")] == ["ok"]
    assert "one: ended with 3: message" in table and "message" in (tmp_path / "log.txt").read_text()


def test_commands_share_the_limit_of_their_part_and_parts_that_of_the_campaign(tmp_path, monkeypatch):
    """Catches a limit per command instead of per part, and a campaign that reaches its limit before the results are written."""
    monkeypatch.setattr(parts, "GRACE", 1)
    four = [shell(str(n), "sleep 0.6") for n in range(4)]
    late = Part("late", 10, [shell("long", "sleep 100")])
    ok, results = run(tmp_path, [Part("two at a time", 1, four), late, Part("no time", 10, four)], limit=7, jobs=2)
    assert not ok
    assert results["two at a time"]["failed"].keys() == {"2", "3"}
    assert results["late"]["status"] == 124 and results["late"]["limit"] < 7
    assert results["no time"]["left_out"] == "no time left"
    assert run(tmp_path, [Part("four at a time", 1, four)], jobs=4)[0]


def test_sigterm_writes_the_results_and_starts_no_further_part(tmp_path, monkeypatch):
    """Catches results that are lost if the machine is withdrawn during a part."""
    monkeypatch.setattr(parts, "GRACE", 1)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    queue = [Part("first", 5, [shell("quick", "true")]), Part("second", 50, [shell("long", "sleep 100")]), Part("third", 5, [shell("all", "true")])]
    ok, results = run(tmp_path, queue)
    assert not ok and results["first"]["status"] == 0 and results["second"]["status"] == 124
    assert results["third"]["left_out"] == "no time left"


def test_results_without_reference_and_missing_tests_fail(gpu):
    """Catches sizes that no check covers, and a renamed test: the command exits with 0 in both cases."""
    row = {"name": "step", "axis": None, "points": [8, 8, 9], "method": "auto", "precision": "f64", "gb_per_s": 2.0}
    row |= {"ns_per_point": {"min": 6.0}, "ns_per_point_stage": {"min": 1.0}, "time_over_copy": 3.0, "error": 1e-15}
    report = lambda error: json.dumps({"results": [row | {"error": error}], "notes": []})
    assert gpu.checked(report(1e-15)) == {"step 8x8x9": {"ns": 1.0, "GB/s": 2.0, "copies": 3.0, "error": 1e-15}}
    assert gpu.bench_numbers(report(None))["without reference"] == "step 8x8x9"
    sweep = row | {"name": "sweep", "axis": "z", "sweep": "terms", "stages": "last", "error": 1e-15}
    of_sweep = lambda kernel: gpu.bench_numbers(json.dumps({"results": [sweep | {"kernel": kernel}], "notes": []}))["sweep z terms last 8x8x9"]
    assert of_sweep({"registers": 254, "resident": 2, "lines": 8}) == of_sweep(None) | {"registers": 254, "resident": 2}
    with pytest.raises(InvalidResult, match="without reference") as failure:
        gpu.checked(report(None))
    assert failure.value.numbers["step 8x8x9"]["ns"] == 1.0
    with pytest.raises(InvalidResult, match="JSON"):
        gpu.checked("not JSON")
    assert gpu.passed("test result: ok. 7 passed; 0 failed; 1 ignored") == {"passed": 7}
    for wrong in ("test result: ok. 0 passed; 0 failed; 0 ignored", "running 1 test"):
        with pytest.raises(InvalidResult):
            gpu.passed(wrong)
    with pytest.raises(InvalidResult):
        gpu.device("cuda     CUDA cannot be used: no driver\n")
    assert gpu.device("cuda     0: NVIDIA H200\nnvrtc    13.0, /x\n") == {"device": "NVIDIA H200", "NVRTC": "13.0, /x"}


def test_the_campaign_lists_all_tests_in_other_modules_that_use_a_device(gpu):
    """Catches a new or renamed test that uses a device but is never run on a GPU."""
    found = set()
    for path in (ROOT / "tests").rglob("*.rs"):
        module = path.relative_to(ROOT / "tests").with_suffix("").parts
        text = path.read_text()
        if module[0] == "device" or "use crate::device::gpu;" not in text:
            continue
        functions = re.split(r"^fn ", text, flags=re.MULTILINE)
        before = zip(functions, functions[1:], strict=False)
        found |= {
            "::".join([*module, body.split("(")[0]])
            for above, body in before
            if above.rstrip().endswith("#[test]") and re.search(r"\bgpu\(", body.split("\n}\n")[0])
        }
    assert found == set(gpu.OTHER_DEVICE_TESTS)


def test_packed_programs_and_cache_are_those_used_after_unpacking(gpu, tmp_path, monkeypatch):
    """Catches a program damaged by packing, a cache that is not packed, and a different program installed on the machine being used."""
    monkeypatch.setattr(gpu, "ROOT", tmp_path)
    monkeypatch.setattr(gpu, "PACKED", tmp_path / "target" / "gpu")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    cache = tmp_path / "cache.tar.xz"
    with gpu.tarfile.open(cache, "w:xz") as tar:
        (tmp_path / "kept").write_text("kernel")
        tar.add(tmp_path / "kept", arcname="kolmo/kept")
    true, echo = (Path(shutil.which(name)) for name in ("true", "echo"))
    options = gpu.argparse.Namespace(kolmo=echo, tests=true, cache=cache)
    gpu.pack(options)
    kolmo, tests = gpu.unpacked(tmp_path / "work")
    environment = gpu.environment(tmp_path / "work", kolmo)
    assert (Path(environment["XDG_CACHE_HOME"]) / "kolmo" / "kept").read_text() == "kernel"
    line = 'test "$("$KOLMO_PROGRAM" it)" = it && test "$KOLMO_TEST_DEVICE" = cuda'
    for command in ([tests], ["sh", "-c", line]):
        subprocess.run(command, env=environment, check=True)
    monkeypatch.setattr(gpu, "MAX_SIZE", 1000)
    with pytest.raises(SystemExit):
        gpu.pack(options)


@pytest.mark.parametrize("what", ["first", "correct", "bench", "profile", "big"])
def test_each_campaign_finishes_on_a_machine_without_tools_or_gpu(gpu, what, tmp_path):
    """Catches a part that stops the others if tools, device and files are missing."""
    line = [sys.executable, ROOT / "benches" / "gpu", what, "--kolmo", shutil.which("false"), "--tests", shutil.which("false")]
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    ended = subprocess.run([*line, "--out", tmp_path / "out"], capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr, ended.stderr
    results = json.loads((tmp_path / "out" / what / "results.json").read_text())
    assert all(result["status"] or "left_out" in result for result in results), results
    assert len(ended.stdout.splitlines()) > len(results)


@pytest.mark.parametrize(("what", "part", "label"), [("bench", "derivative", "derivative z 20x20x20"), ("correct", "machine", "device")])
def test_output_of_the_program_is_parsed(what, part, label, tmp_path):
    """Catches keys with different names in the program and in the campaign, and a rehearsal that does not find its driver."""
    program = os.environ.get("KOLMO_PROGRAM") or ROOT / "target" / "release" / "kolmo"
    line = [sys.executable, ROOT / "benches" / "gpu", what, "--kolmo", program, "--tests", shutil.which("true")]
    line += ["--rehearse", "--only", part, "--out", tmp_path / "out"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (result,) = json.loads((tmp_path / "out" / what / "results.json").read_text())
    found = result["numbers"][label]
    assert found == "Strict 0" if label == "device" else found["error"] < 1e-13
