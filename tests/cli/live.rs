//! `kolmo run --live`: the report of a run that goes on, at an address of this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// A run that serves its report; it does not outlive its test.
struct Followed {
    child: Child,
    errors: BufReader<ChildStderr>,
    port: u16,
}

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn followed(directory: &Path, further: &[&str]) -> Followed {
    let mut command = Command::new(program());
    command.args(small(&["--out", "run", "--live"])).args(further).current_dir(directory);
    let mut child = command.env("CUDA_VISIBLE_DEVICES", "").stderr(Stdio::piped()).spawn().unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    let mut run = Followed { child, errors, port: 0 };
    let mut said = String::new();
    while run.errors.read_line(&mut said).unwrap() > 0 {
        if let Some((_, port)) = said.split_once("http://127.0.0.1:") {
            run.port = port.trim_end_matches(['/', '\n']).parse().unwrap();
            return run;
        }
    }
    panic!("no address: {said}");
}

/// The answer to a question for the page, where there is one.
fn page(port: u16, more: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let request = format!("GET / HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn the_page_grows_while_a_run_goes_on_and_is_whole_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let long = [
        "--set",
        "time={ end = 1000.0, dt = 0.001 }",
        "--set",
        "output.series={ every_steps = 1 }",
    ];
    let mut run = followed(dir.path(), &long);
    let port = run.port;
    let limit = Instant::now() + Duration::from_secs(120);
    let when = |what: &dyn Fn(&str) -> bool| loop {
        let answer = page(port, "").unwrap();
        if what(&answer) {
            return answer;
        }
        assert!(Instant::now() < limit, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let begun = when(&|page| {
        page.contains("The run is in progress") && page.contains("id=\"plot-kinetic_energy\"")
    });
    assert!(
        begun.contains("\r\nKolmo-Run: goes on\r\n")
            && begun.contains("To t = 1000. This page follows it.")
    );
    let length = |page: &str| {
        let data = page.split_once("id=\"plot-kinetic_energy\"").unwrap().1;
        let data = data.split_once("\"x\":[[").unwrap().1.split_once(']').unwrap().0;
        data.split(',').count()
    };
    let before = length(&begun);
    when(&|page| length(page) > before + 3);
    assert!(!dir.path().join("run/report.html").exists() && !dir.path().join("run/plots").exists());
    // The end waits until whoever asked just now has the last page.
    let id = libc::pid_t::try_from(run.child.id()).unwrap();
    // SAFETY: a process of our own.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    let last = when(&|page| page.contains("\r\nKolmo-Run: ended\r\n"));
    assert_eq!(run.child.wait().unwrap().code(), Some(3));
    let rows = Series::read(&dir.path().join("run/series.csv")).unwrap().rows();
    assert_eq!(length(&last), rows);
    let body = last.split_once("\r\n\r\n").unwrap().1;
    assert!(body == read(dir.path().join("run/report.html")), "the last page is the report");
    assert!(page(port, "").is_none(), "nobody answers behind the end");
    let mut said = String::new();
    run.errors.read_to_string(&mut said).unwrap();
    assert!(said.contains("stopped early, as asked"), "{said}");
}

#[test]
fn what_has_not_changed_is_not_sent_again_and_a_run_that_nobody_follows_ends_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let slow = [
        "--set",
        "time={ max_steps = 100000, cfl = 0.8 }",
        "--set",
        "output.series={ every_steps = 100000 }",
    ];
    let run = followed(dir.path(), &slow);
    let port = run.port;
    let limit = Instant::now() + Duration::from_secs(120);
    // Until the first pictures are written the page changes.
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
    let outcome = done(dir.path(), small(&["--out", "other", "--live"]));
    assert!(outcome.err.contains("the live report: http://127.0.0.1:"), "{}", outcome.err);
    assert!(dir.path().join("other/report.html").exists());
}

#[test]
fn a_port_that_is_taken_or_is_none_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let outcome = kolmo(dir.path(), small(&["--out", "run", &format!("--live={port}")]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    let told = format!("error: --live: port {port} of 127.0.0.1 is not available: ");
    assert!(
        outcome.err.contains(&told) && outcome.err.contains("nothing was run"),
        "{}",
        outcome.err
    );
    assert!(!dir.path().join("run/config.toml").exists());
    // A restart that is refused leaves the run as it was.
    done(dir.path(), small(&["--out", "run"]));
    let taken = format!("--live={port}");
    let outcome = kolmo(dir.path(), ["restart", "run", "--set", "time.max_steps=8", &taken]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains(&told), "{}", outcome.err);
    assert!(dir.path().join("run/report.html").exists());
    let outcome = done(dir.path(), ["restart", "run", "--set", "time.max_steps=8", "--live"]);
    assert!(outcome.err.contains("the live report: http://127.0.0.1:"), "{}", outcome.err);
    for wrong in ["--live=65536", "--live=-1", "--live=door", "--live="] {
        let outcome = kolmo(dir.path(), small(&["--out", "run", wrong]));
        assert_eq!(outcome.code, Some(2), "{wrong}: {}", outcome.err);
        assert!(outcome.err.contains("--live"), "{wrong}: {}", outcome.err);
    }
}
