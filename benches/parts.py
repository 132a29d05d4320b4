"""Parts of a measurement, each with a time limit and independent of the others: the framework of `benches/gpu`.

A part is one command, or several that run concurrently. It fails if a command exits with a status other than 0, is still running at the
limit, or prints an impossible result. The results are written after each part, so that none is lost if the machine ends the whole
campaign.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any, Callable, NamedTuple

TIMED_OUT = 124  # status of a command stopped at its limit, as for `timeout`
INVALID = 125  # status of a command that exits with 0 but prints an impossible result
GRACE = 5  # seconds from SIGTERM to SIGKILL, and from there to giving up
MIN_TIME = 5  # seconds; no part is started with less time left
MAX_OUTPUT = 1 << 24  # bytes of a command's output that are read
MAX_LOGGED = 1 << 15  # bytes of a command's output that are written to the log
NOT_STARTED = "not started before the limit"
HEAD = f"{'part':26} {'':>10} {'seconds':>8} {'limit':>7}"


class InvalidResult(Exception):
    """An impossible result of a command: an error message, and the numbers that could be read."""

    def __init__(self, message, numbers=None):
        super().__init__(message)
        self.numbers = numbers or {}


class Command(NamedTuple):
    name: str
    arguments: list
    read: Callable[[str], dict[str, Any]] = lambda out: {}  # returns the numbers in the output, or raises InvalidResult


class Part(NamedTuple):
    name: str
    limit: float  # seconds for all commands
    commands: list[Command]
    needs: str = ""  # a required program; without it the part is left out


class Process:
    """A command with its child processes and its output."""

    def __init__(self, command, environment, folder):
        self.command, self.began = command, time.monotonic()
        self.seconds = 0.0
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.status = self.process = None
        try:
            self.process = subprocess.Popen(
                [str(word) for word in command.arguments],
                stdin=subprocess.DEVNULL,
                stdout=self.out,
                stderr=self.err,
                env=environment,
                cwd=folder,
                process_group=0,
            )
        except OSError as why:
            self.err.write(f"{why}\n".encode())
            self.status = 127

    def ended(self):
        if self.status is None:
            self.status = self.process.poll()
        if self.status is None:
            return False
        self.seconds = time.monotonic() - self.began
        return True

    def send(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def output(self, file, max_bytes=MAX_OUTPUT):
        """The last `max_bytes` bytes of an output."""
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - max_bytes))
        return file.read().decode(errors="replace")


def text(value):
    """A number, or several with their names, as text for the table."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {text(number)}" for name, number in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def stop(processes):
    """End processes and their children. A process that hangs in a driver may not even die, so the wait is bounded."""
    running = [process for process in processes if not process.ended()]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in running:
            process.send(number)
        end = time.monotonic() + GRACE
        while time.monotonic() < end and any(process.process.poll() is None for process in running):
            time.sleep(0.05)
    for process in running:
        process.status, process.seconds = TIMED_OUT, time.monotonic() - process.began


class Campaign:
    """Runs parts one after another, and keeps a table, JSON and all output in a folder."""

    def __init__(self, folder, limit, environment=None, root=None, jobs=None):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.end = folder, time.monotonic() + limit
        self.environment, self.root = environment or dict(os.environ), root
        self.jobs = jobs or os.cpu_count() or 1
        self.results = []
        (folder / "log.txt").write_text("")

    def run(self, parts):
        """Run all parts; return whether at least one ran and none failed."""
        # On SIGTERM, which a machine sends before it ends the campaign, running parts are stopped and all results are written.
        before = signal.signal(signal.SIGTERM, self.end_now)
        print(HEAD, flush=True)
        for part in parts:
            self.results.append(self.result(part))
            self.write()
            print(self.row(self.results[-1]), flush=True)
        signal.signal(signal.SIGTERM, before)
        statuses = [result["status"] for result in self.results]
        return not any(statuses) and 0 in statuses

    def end_now(self, *_):
        """Handle SIGTERM: set the limit of the campaign to the present time."""
        self.end = time.monotonic()

    def result(self, part):
        left = self.end - time.monotonic()
        result = {"part": part.name, "commands": len(part.commands), "status": None, "seconds": 0.0, "limit": part.limit, "numbers": {}, "failed": {}}
        if part.needs and not shutil.which(part.needs, path=self.environment.get("PATH")):
            return {**result, "left_out": f"{part.needs} is not installed"}
        if left < MIN_TIME:
            return {**result, "left_out": "no time left"}
        began = time.monotonic()
        limit = min(part.limit, left)
        ended, not_started = self.run_commands(part.commands, began + limit)
        several = len(part.commands) > 1
        for process in ended:
            try:
                numbers = process.command.read(process.output(process.out))
            # An unreadable output or a missing file must not stop the next part.
            except Exception as why:
                invalid = why if isinstance(why, InvalidResult) else InvalidResult(repr(why))
                process.status = process.status or INVALID
                numbers, result["failed"][process.command.name] = invalid.numbers, str(invalid)
            result["numbers"].update({f"{process.command.name}: {name}" if several else name: numbers[name] for name in numbers})
            if process.status not in (0, INVALID):
                result["failed"][process.command.name] = self.reason(process)
            self.log(part, process)
        result["failed"].update((command.name, NOT_STARTED) for command in not_started)
        statuses = [process.status for process in ended] + [TIMED_OUT for _ in not_started]
        status = next((status for status in statuses if status), 0)
        return {**result, "status": status, "seconds": round(time.monotonic() - began, 1), "limit": round(limit, 1)}

    def run_commands(self, commands, deadline):
        """Run commands; return their processes, and the commands that were not started in time."""
        waiting, running, ended = list(commands), [], []
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    running.append(Process(waiting.pop(0), self.environment, self.root))
                done = [process for process in running if process.ended()]
                ended += done
                running = [process for process in running if process not in done]
                if time.monotonic() >= min(deadline, self.end):
                    break
                time.sleep(0.0 if done else 0.05)
        finally:
            stop(running)
        return ended + running, waiting

    @staticmethod
    def reason(process):
        """The reason of a failure: the last line of the output."""
        if process.status == TIMED_OUT:
            return f"stopped at the limit, after {process.seconds:.0f} s"
        lines = (process.output(process.err) or process.output(process.out)).strip().splitlines()
        return f"ended with {process.status}" + "".join(f": {line}" for line in lines[-1:])

    def log(self, part, process):
        """Write a command with its output to the log."""
        command = " ".join(map(str, process.command.arguments))
        with open(self.folder / "log.txt", "a", encoding="utf-8") as log:
            log.write(f"== {part.name}: {process.command.name}: {process.status}, {process.seconds:.1f} s\n$ {command}\n")
            log.write(process.output(process.out, MAX_LOGGED) + process.output(process.err, MAX_LOGGED))

    @staticmethod
    def row(result):
        """The lines of the table for a part: its numbers, or the reason of their absence."""
        if "left_out" in result:
            return f"{result['part']:26} {'left out':>10} {'':>8} {result['limit']:7.0f}  {result['left_out']}"
        state = {0: "ok", TIMED_OUT: "limit"}.get(result["status"], f"FAILED {result['status']}")
        lines = [f"{result['part']:26} {state:>10} {result['seconds']:8.1f} {result['limit']:7.0f}"]
        lines += [f"    {name}  {text(value)}" for name, value in result["numbers"].items()]
        if result["commands"] > 1:
            lines.append(f"    {result['commands'] - len(result['failed'])} of {result['commands']} passed")
        lines += [f"    {name}: {why}" for name, why in result["failed"].items() if why != NOT_STARTED]
        if not_started := list(result["failed"].values()).count(NOT_STARTED):
            lines.append(f"    {not_started} of {result['commands']} {NOT_STARTED}")
        return "\n".join(lines)

    def write(self):
        table = "\n".join([HEAD, *map(self.row, self.results)])
        (self.folder / "table.txt").write_text(table + "\n", encoding="utf-8")
        (self.folder / "results.json").write_text(json.dumps(self.results, indent=1) + "\n", encoding="utf-8")
