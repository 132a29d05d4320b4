//! The report of a run in progress, for a browser on the same machine.
//!
//! Readers get one page, `/`, made from the files of the run on request: no file name comes from outside, and nothing is written.
//! Without readers, the only cost is a waiting thread.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tiny_http::{Header, Method, Request, Response, Server};

use super::directory::entries;
use super::report::live_page;
use super::series::xxh3;
use super::summary::Summary;
use crate::{Error, Result};

/// Readers with a request within this time before the end of a run follow the run, and get to see its end.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(15);
/// The program waits for these readers no longer than this.
const MAX_WAIT_AT_END: Duration = Duration::from_secs(10);

/// Maximum number of unfinished answers per reader: a client that does not read gets no more.
const MAX_UNFINISHED_ANSWERS: usize = 4;

/// The page may only run its own scripts, and may only load newer pages of the same run.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page before a run begins.
const WAITING_PAGE: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta http-equiv=\"refresh\" content=\"1\">\n\
                        <title>Kolmo</title>\n<p>The run is being prepared. This page will show its report.</p>\n</html>\n";

/// A report at an address of this machine only.
#[derive(Clone)]
pub struct Live(Arc<Shared>);

struct Shared {
    server: Server,
    port: u16,
    state: Mutex<State>,
    /// Notified when a reader has seen the end.
    end_seen_by_reader: Condvar,
}

#[derive(Default)]
struct State {
    /// Directory and summary so far, once the run has begun.
    run: Option<(PathBuf, Summary, Instant)>,
    /// Time of the last valid request.
    last_request: Option<Instant>,
    ended: bool,
    end_seen: bool,
    /// Number of unfinished answers, by the reader's address.
    unfinished_answers: HashMap<Option<SocketAddr>, usize>,
}

impl State {
    /// Whether there was a request a short time ago.
    fn is_followed(&self) -> bool {
        self.last_request.is_some_and(|request| request.elapsed() < FOLLOW_INTERVAL)
    }
}

impl Live {
    /// Open this port of 127.0.0.1; 0 is any free port.
    ///
    /// # Errors
    /// Where the port is not available.
    pub fn open(port: u16) -> Result<Self> {
        let server = Server::http((Ipv4Addr::LOCALHOST, port)).map_err(|why| {
            let what = format!("--live: port {port} of 127.0.0.1 is not available: {why}");
            Error::refused(what, "choose another one, or leave it to the system: `--live`")
        })?;
        let port = server.server_addr().to_ip().map_or(port, |address| address.port());
        let state = Mutex::default();
        let live =
            Self(Arc::new(Shared { server, port, state, end_seen_by_reader: Condvar::new() }));
        let shared = live.0.clone();
        let thread = thread::Builder::new().name("live report".into());
        thread.spawn(move || shared.serve()).map_err(Error::io("a thread of the live report"))?;
        Ok(live)
    }

    /// `http://127.0.0.1:41873/`
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.0.port)
    }

    /// Mark the run in `directory` as begun; `so_far` is its summary until now.
    pub(crate) fn begin(&self, directory: &Path, so_far: Summary) {
        self.0.state().run = Some((directory.to_path_buf(), so_far, Instant::now()));
    }

    /// Mark the run as ended: wait a few seconds at most until its readers have the last page, and close the address.
    pub fn end(&self) {
        let mut state = self.0.state();
        state.ended = true;
        let is_awaited = |state: &mut State| state.is_followed() && !state.end_seen;
        drop(self.0.end_seen_by_reader.wait_timeout_while(state, MAX_WAIT_AT_END, is_awaited));
        self.0.server.unblock();
    }
}

impl Debug for Live {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Live").field(&self.address()).finish()
    }
}

/// The last page, and a stamp of the files that it was made from.
#[derive(Default)]
struct CachedPage {
    etag: String,
    html: String,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pages are made one at a time, so that readers never take more than one core from the run.
    fn serve(self: &Arc<Self>) {
        let mut cached = CachedPage::default();
        for request in self.server.incoming_requests() {
            match refusal(&request) {
                Some((code, why)) => self.send(request, (code, why.into()), &[], false),
                None => self.answer(request, &mut cached),
            }
        }
    }

    fn answer(self: &Arc<Self>, request: Request, cached: &mut CachedPage) {
        let (run, ended) = {
            let mut state = self.state();
            state.last_request = Some(Instant::now());
            (state.run.clone(), state.ended)
        };
        let Some((directory, mut so_far, start)) = run else {
            let headers = [("Kolmo-Run", "prepared")];
            return self.send(request, (200, WAITING_PAGE.into()), &headers, false);
        };
        let etag = format!("\"{}\"", stamp(&directory, ended));
        if cached.etag != etag {
            so_far.wall_seconds = start.elapsed().as_secs_f64();
            // A file may be incomplete at this moment: the previous page holds until the next request.
            if let Ok(html) = live_page(&directory, &so_far) {
                *cached = CachedPage { etag, html };
            }
        }
        let state = if ended { "ended" } else { "running" };
        let headers = [("Kolmo-Run", state), ("ETag", cached.etag.as_str())];
        let known = header_values(&request, "If-None-Match")
            .next()
            .is_some_and(|known| known == cached.etag);
        match (known, cached.html.is_empty()) {
            (_, true) => self.send(request, (200, WAITING_PAGE.into()), &[], ended),
            (true, false) => self.send(request, (304, String::new()), &headers, ended),
            (false, false) => self.send(request, (200, cached.html.clone()), &headers, ended),
        }
    }

    /// Send an answer in the background; `ended` means that its reader has then seen the end.
    fn send(
        self: &Arc<Self>,
        request: Request,
        answer: (u16, String),
        headers: &[(&str, &str)],
        ended: bool,
    ) {
        let response = response(answer, headers);
        let reader = request.remote_addr().copied();
        let mut state = self.state();
        let count = state.unfinished_answers.entry(reader).or_default();
        if *count == MAX_UNFINISHED_ANSWERS {
            // A request without its writer sends nothing when it is dropped.
            drop(request.into_writer());
            return;
        }
        *count += 1;
        drop(state);
        let shared = self.clone();
        thread::spawn(move || {
            // A reader that has disconnected needs no answer.
            let _ = request.respond(response);
            let mut state = shared.state();
            state.end_seen |= ended;
            state.unfinished_answers.entry(reader).and_modify(|count| *count -= 1);
            state.unfinished_answers.retain(|_, count| *count > 0);
            shared.end_seen_by_reader.notify_all();
        });
    }
}

/// Why a request is refused: it does not ask for the page, or does not name this machine as its only host. If a foreign host name
/// that resolves to this machine (DNS rebinding) were accepted, any page on the web could read the report. The port may differ,
/// behind a tunnel.
fn refusal(request: &Request) -> Option<(u16, &'static str)> {
    let is_local = |host: &str| {
        let (name, port) = host.split_once(':').unwrap_or((host, "80"));
        ["127.0.0.1", "localhost"].contains(&name) && port.parse::<u16>().is_ok()
    };
    let hosts: Vec<&str> = header_values(request, "Host").collect();
    match (&hosts[..], request.method(), request.url()) {
        ([host], ..) if !is_local(host) => Some((403, "this page is only served at 127.0.0.1\n")),
        ([_], Method::Get | Method::Head, "/") => None,
        // Browsers request an icon of the page on their own.
        ([_], Method::Get | Method::Head, "/favicon.ico") => Some((204, "")),
        ([_], Method::Get | Method::Head, _) => Some((404, "there is one page, /\n")),
        ([_], ..) => Some((405, "this page is read-only\n")),
        _ => Some((400, "a request must name its host exactly once\n")),
    }
}

fn header_values<'a>(request: &'a Request, name: &'static str) -> impl Iterator<Item = &'a str> {
    let named = request.headers().iter().filter(move |header| header.field.equiv(name));
    named.map(|header| header.value.as_str())
}

fn response(
    (code, text): (u16, String),
    extra_headers: &[(&str, &str)],
) -> Response<Cursor<Vec<u8>>> {
    let kind = if text.starts_with("<!doctype") {
        "text/html; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    };
    let common_headers = [
        ("Content-Type", kind),
        ("Content-Security-Policy", POLICY),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
    ];
    let headers = common_headers
        .iter()
        .chain(extra_headers)
        .filter_map(|(name, value)| Header::from_bytes(*name, *value).ok());
    let response = Response::from_string(text).with_status_code(code);
    headers.fold(response, Response::with_header)
}

/// State of the files that the page of a run is made from: their lengths and modification times.
fn stamp(directory: &Path, ended: bool) -> String {
    let mut tables = entries(&directory.join("statistics"));
    tables.sort();
    let names =
        ["series.csv", "slices/slices.json", "summary.json"].map(|name| directory.join(name));
    let of = |path: &PathBuf| {
        let data = fs::metadata(path).ok();
        format!("{:?}", data.map(|data| (data.len(), data.modified().ok())))
    };
    let stamps: Vec<String> = names.iter().chain(&tables).map(of).collect();
    xxh3(format!("{ended} {stamps:?}").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    /// The response to a request with this request line and `Host` header.
    fn request(port: u16, line: &str, host: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let text = format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn status(port: u16, line: &str, host: &str) -> String {
        request(port, line, host).split(' ').nth(1).unwrap().to_string()
    }

    #[test]
    fn live_server_serves_only_its_page_and_only_to_local_host_names() {
        let live = Live::open(0).unwrap();
        let port = live.0.port;
        let here = format!("127.0.0.1:{port}");
        for (line, host, code) in [
            ("GET /", &*here, "200"),
            ("HEAD /", &here, "200"),
            ("GET /", &format!("localhost:{port}"), "200"),
            // Through a tunnel from another machine, the port differs.
            ("GET /", "localhost:8080", "200"),
            ("GET /", "127.0.0.1", "200"),
            ("GET /", "127.0.0.1:here", "403"),
            ("GET /", "example.org", "403"),
            ("GET /", &format!("example.org:{port}"), "403"),
            ("GET /", &format!("127.0.0.1.example.org:{port}"), "403"),
            ("GET /series.csv", &here, "404"),
            ("GET /../../etc/passwd", &here, "404"),
            ("GET //etc/passwd", &here, "404"),
            ("GET /%2e%2e/etc/passwd", &here, "404"),
            ("GET /?x", &here, "404"),
            ("POST /", &here, "405"),
            ("DELETE /", &here, "405"),
            ("GET /favicon.ico", &here, "204"),
        ] {
            assert_eq!(status(port, line, host), code, "{line} at {host}");
        }
        let two = request(port, "GET /", &format!("{here}\r\nHost: a"));
        assert!(two.starts_with("HTTP/1.1 400"), "{two}");
        let page = request(port, "GET /", &here);
        let is_prepared = page.contains("The run is being prepared");
        assert!(is_prepared && page.contains("default-src 'none'"), "{page}");
    }

    #[test]
    fn stalled_client_does_not_block_other_clients() {
        let live = Live::open(0).unwrap();
        let port = live.0.port;
        let here = format!("127.0.0.1:{port}");
        let mut idle = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        idle.set_nonblocking(true).unwrap();
        let line = format!("GET / HTTP/1.1\r\nHost: {here}\r\n\r\n");
        // The responses exceed the buffers of the system: sending all of them would block forever.
        while idle.write_all(line.repeat(1000).as_bytes()).is_ok() {}
        assert_eq!(status(port, "GET /", &here), "200");
    }

    #[test]
    fn occupied_port_is_rejected() {
        let live = Live::open(0).unwrap();
        let error = Live::open(live.0.port).unwrap_err().to_string();
        assert!(error.starts_with(&format!(
            "error: --live: port {} of 127.0.0.1 is not available: ",
            live.0.port
        )));
        assert!(error.ends_with("1 error; nothing was run"), "{error}");
    }

    /// Without readers, `end` does not wait.
    #[test]
    fn valid_requests_mark_a_run_as_followed_and_its_end_closes_the_port() {
        let live = Live::open(0).unwrap();
        let port = live.0.port;
        assert!(!live.0.state().is_followed());
        assert_eq!(status(port, "GET /", "example.org"), "403");
        assert!(!live.0.state().is_followed(), "a rejected request is not a reader");
        assert_eq!(status(port, "GET /", &format!("127.0.0.1:{port}")), "200");
        assert!(live.0.state().is_followed());
        live.0.state().last_request = None;
        live.end();
        drop(live);
        let is_closed = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err();
        let is_closed_soon = (0..600).any(|_| {
            thread::sleep(Duration::from_millis(50));
            is_closed()
        });
        assert!(is_closed_soon);
    }
}
