//! Interface between the pages in a browser and Kolmo: requests and answers are JSON, pictures are arrays of numbers.
//!
//! A page writes a request to the address returned by [`request_buffer`], calls [`ask`], and reads the answer at the address returned by
//! [`answer`]: `{"ok": ...}`, or `{"error": "message"}`. The library computes all numbers of a page.

mod flow;
mod inverse;
mod operators;
mod reduction;
mod stability;
mod waves;

use std::cell::RefCell;
use std::panic::PanicHookInfo;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::{Value, json};

/// A request.
#[derive(Deserialize)]
#[serde(tag = "about", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// Available schemes, closures and integrators.
    Choices,
    /// Modified wavenumbers of all schemes.
    Symbols,
    Stability(stability::Request),
    Inverse(inverse::Request),
    Reduction(reduction::Request),
    Ranks(reduction::RankRequest),
    Start(flow::Start),
    Advance(flow::Advance),
    Picture(flow::Picture),
}

/// Text exchanged with a page, and its flow.
#[derive(Default)]
struct State {
    text: Vec<u8>,
    flow: Option<flow::Flow>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Returns the address for a request of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn request_buffer(len: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.text = vec![0; len];
        state.text.as_mut_ptr()
    })
}

/// Answers the request; returns the number of bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    std::panic::set_hook(Box::new(record_panic));
    STATE.with_borrow_mut(|state| {
        let request = serde_json::from_slice(&state.text).map_err(|error| error.to_string());
        let answer = match request.and_then(|request| state.answer(request)) {
            Ok(value) => json!({ "ok": value }),
            Err(message) => json!({ "error": message }),
        };
        state.text = answer.to_string().into_bytes();
        state.text.len()
    })
}

/// Returns the address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.text.as_ptr())
}

/// Returns the address of the numbers of the last picture.
#[unsafe(no_mangle)]
pub extern "C" fn picture() -> *const f32 {
    let numbers = |flow: &flow::Flow| flow.picture().as_ptr();
    STATE.with_borrow(|state| state.flow.as_ref().map_or(std::ptr::null(), numbers))
}

/// Message of the last panic. After a panic no request can be answered.
static PANIC_MESSAGE: Mutex<String> = Mutex::new(String::new());

fn record_panic(panic: &PanicHookInfo<'_>) {
    if let Ok(mut panic_message) = PANIC_MESSAGE.lock() {
        *panic_message = format!("Kolmo stopped: {panic}");
    }
}

/// Returns the address of the panic message.
#[unsafe(no_mangle)]
pub extern "C" fn panic_message() -> *const u8 {
    PANIC_MESSAGE.lock().map_or(std::ptr::null(), |message| message.as_ptr())
}

/// Returns the number of bytes of the panic message.
#[unsafe(no_mangle)]
pub extern "C" fn panic_message_length() -> usize {
    PANIC_MESSAGE.lock().map_or(0, |message| message.len())
}

/// Returns the message of an error for a page. Parts about files are removed, because a page writes no files.
fn error_message(error: &kolmo::Error) -> String {
    let text = error.what().replace("what was written before is intact; ", "");
    let kept = text.lines().filter(|line| !line.ends_with("nothing was run"));
    let lines: Vec<&str> = kept.map(|line| line.trim_start_matches("error: ").trim()).collect();
    lines.join("\n")
}

impl State {
    fn answer(&mut self, request: Request) -> Result<Value, String> {
        match request {
            Request::Choices => Ok(operators::choices()),
            Request::Symbols => Ok(waves::symbols()),
            Request::Stability(request) => request.answer(),
            Request::Inverse(request) => request.answer(),
            Request::Reduction(request) => request.answer(),
            Request::Ranks(request) => request.answer(),
            Request::Start(start) => {
                self.flow = None; // Frees the memory of the old flow before the new one is created.
                self.flow.insert(flow::Flow::new(&start)?).describe()
            }
            Request::Advance(advance) => self.flow()?.advance(&advance),
            Request::Picture(picture) => self.flow()?.draw(&picture),
        }
    }

    fn flow(&mut self) -> Result<&mut flow::Flow, String> {
        self.flow.as_mut().ok_or_else(|| "no flow was started".to_string())
    }
}
