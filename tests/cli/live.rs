//! `kolmo run --live`: the report of a run in progress, served at a local address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// A run that serves its report. It is killed when its test ends.
struct LiveRun {
    child: Child,
    errors: BufReader<ChildStderr>,
    port: u16,
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_live(directory: &Path, further: &[&str]) -> LiveRun {
    let mut command = Command::new(program());
    command.args(small_run(&["--out", "run", "--live"])).args(further).current_dir(directory);
    let mut child = command.env("CUDA_VISIBLE_DEVICES", "").stderr(Stdio::piped()).spawn().unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    let mut run = LiveRun { child, errors, port: 0 };
    let mut stderr = String::new();
    while run.errors.read_line(&mut stderr).unwrap() > 0 {
        if let Some((_, port)) = stderr.split_once("http://127.0.0.1:") {
            run.port = port.trim_end_matches(['/', '\n']).parse().unwrap();
            return run;
        }
    }
    panic!("no address: {stderr}");
}

/// The response to a request for the page; `None` if the server does not respond.
fn page(port: u16, headers: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let request = format!("GET / HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    Some(response)
}

#[test]
fn live_page_grows_during_the_run_and_ends_as_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let long = [
        "--set",
        "time={ end = 1000.0, dt = 0.001 }",
        "--set",
        "output.series={ every_steps = 1 }",
    ];
    let mut run = start_live(dir.path(), &long);
    let port = run.port;
    let limit = Instant::now() + Duration::from_secs(120);
    let wait_for = |condition: &dyn Fn(&str) -> bool| loop {
        let response = page(port, "").unwrap();
        if condition(&response) {
            return response;
        }
        assert!(Instant::now() < limit, "{response}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let first = wait_for(&|page| {
        page.contains("The run is in progress") && page.contains("id=\"plot-kinetic_energy\"")
    });
    assert!(
        first.contains("\r\nKolmo-Run: running\r\n")
            && first.contains("To t = 1000. This page follows it.")
    );
    let length = |page: &str| {
        let data = page.split_once("id=\"plot-kinetic_energy\"").unwrap().1;
        let data = data.split_once("\"x\":[[").unwrap().1.split_once(']').unwrap().0;
        data.split(',').count()
    };
    let before = length(&first);
    wait_for(&|page| length(page) > before + 3);
    assert!(!dir.path().join("run/report.html").exists() && !dir.path().join("run/plots").exists());
    // The run exits only when a recent reader has received the last page.
    let id = libc::pid_t::try_from(run.child.id()).unwrap();
    // SAFETY: the process is a child of this test.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    let last = wait_for(&|page| page.contains("\r\nKolmo-Run: ended\r\n"));
    assert_eq!(run.child.wait().unwrap().code(), Some(3));
    let rows = Series::read(&dir.path().join("run/series.csv")).unwrap().rows();
    assert_eq!(length(&last), rows);
    let body = last.split_once("\r\n\r\n").unwrap().1;
    assert!(
        body == read(dir.path().join("run/report.html")),
        "the last page differs from report.html"
    );
    assert!(page(port, "").is_none(), "the server still responds after the end of the run");
    let mut stderr = String::new();
    run.errors.read_to_string(&mut stderr).unwrap();
    assert!(stderr.contains("stopped early, as asked"), "{stderr}");
}

#[test]
fn unchanged_live_page_is_not_resent_and_unread_live_run_finishes() {
    let dir = tempfile::tempdir().unwrap();
    let slow = [
        "--set",
        "time={ max_steps = 100000, cfl = 0.8 }",
        "--set",
        "output.series={ every_steps = 100000 }",
    ];
    let run = start_live(dir.path(), &slow);
    let port = run.port;
    let limit = Instant::now() + Duration::from_secs(120);
    // The page changes until the first slices are written.
    let (first, again) = loop {
        let first = page(port, "").unwrap();
        let tag = first.split_once("\r\nETag: ").and_then(|(_, rest)| rest.split_once("\r\n"));
        let known = tag.map_or(String::new(), |(tag, _)| format!("If-None-Match: {tag}\r\n"));
        let again = page(port, &known).unwrap();
        if first.contains("data-step=") && again.starts_with("HTTP/1.0 304") {
            break (first, again);
        }
        assert!(Instant::now() < limit);
    };
    assert!(again.len() < 2000 && first.len() > 50_000);
    drop(run);
    let outcome = run_ok(dir.path(), small_run(&["--out", "other", "--live"]));
    assert!(outcome.stderr.contains("the live report: http://127.0.0.1:"), "{}", outcome.stderr);
    assert!(dir.path().join("other/report.html").exists());
}

#[test]
fn used_or_invalid_live_port_is_rejected_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let outcome = kolmo(dir.path(), small_run(&["--out", "run", &format!("--live={port}")]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    let message = format!("error: --live: port {port} of 127.0.0.1 is not available: ");
    assert!(
        outcome.stderr.contains(&message) && outcome.stderr.contains("nothing was run"),
        "{}",
        outcome.stderr
    );
    assert!(!dir.path().join("run/config.toml").exists());
    // A rejected restart does not change the run.
    run_ok(dir.path(), small_run(&["--out", "run"]));
    let used_port = format!("--live={port}");
    let outcome = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=8", &used_port]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(&message), "{}", outcome.stderr);
    assert!(dir.path().join("run/report.html").exists());
    let outcome = run_ok(dir.path(), ["restart", "run", "--set", "time.max_steps=8", "--live"]);
    assert!(outcome.stderr.contains("the live report: http://127.0.0.1:"), "{}", outcome.stderr);
    for wrong in ["--live=65536", "--live=-1", "--live=door", "--live="] {
        let outcome = kolmo(dir.path(), small_run(&["--out", "run", wrong]));
        assert_eq!(outcome.code, Some(2), "{wrong}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("--live"), "{wrong}: {}", outcome.stderr);
    }
}
