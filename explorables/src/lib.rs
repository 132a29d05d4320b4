//! Interface between the pages in a browser and Kolmo: requests and answers in JSON, and pictures as numbers.
//!
//! A page writes a request to the address returned by [`room`], calls [`ask`], and reads the answer at the address returned by
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
enum Question {
    /// Available schemes, closures and integrators.
    Choices,
    /// Modified wavenumbers of all schemes.
    Symbols,
    Stability(stability::Question),
    Inverse(inverse::Question),
    Reduction(reduction::Question),
    Ranks(reduction::OfRanks),
    Start(flow::Start),
    Advance(flow::Advance),
    Picture(flow::Picture),
}

/// Data exchanged with a page.
#[derive(Default)]
struct Desk {
    text: Vec<u8>,
    flow: Option<flow::Flow>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Returns the address for a request of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        desk.text = vec![0; len];
        desk.text.as_mut_ptr()
    })
}

/// Answers the request; returns the number of bytes of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    std::panic::set_hook(Box::new(note));
    DESK.with_borrow_mut(|desk| {
        let question = serde_json::from_slice(&desk.text).map_err(|error| error.to_string());
        let answer = match question.and_then(|question| desk.answer(question)) {
            Ok(value) => json!({ "ok": value }),
            Err(message) => json!({ "error": message }),
        };
        desk.text = answer.to_string().into_bytes();
        desk.text.len()
    })
}

/// Returns the address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    DESK.with_borrow(|desk| desk.text.as_ptr())
}

/// Returns the address of the numbers of the last picture.
#[unsafe(no_mangle)]
pub extern "C" fn picture() -> *const f32 {
    let numbers = |flow: &flow::Flow| flow.picture().as_ptr();
    DESK.with_borrow(|desk| desk.flow.as_ref().map_or(std::ptr::null(), numbers))
}

/// Message of a panic, after which no request can be answered.
static COMPLAINT: Mutex<String> = Mutex::new(String::new());

fn note(panic: &PanicHookInfo<'_>) {
    if let Ok(mut complaint) = COMPLAINT.lock() {
        *complaint = format!("Kolmo stopped: {panic}");
    }
}

/// Returns the address of that message.
#[unsafe(no_mangle)]
pub extern "C" fn complaint() -> *const u8 {
    COMPLAINT.lock().map_or(std::ptr::null(), |complaint| complaint.as_ptr())
}

/// Returns the number of bytes of that message.
#[unsafe(no_mangle)]
pub extern "C" fn complaint_length() -> usize {
    COMPLAINT.lock().map_or(0, |complaint| complaint.len())
}

/// Message of an error for a page, without parts about files, since a page writes none.
fn sentence(error: &kolmo::Error) -> String {
    let text = error.what().replace("what was written before is intact; ", "");
    let of_page = text.lines().filter(|line| !line.ends_with("nothing was run"));
    let lines: Vec<&str> = of_page.map(|line| line.trim_start_matches("error: ").trim()).collect();
    lines.join("\n")
}

impl Desk {
    fn answer(&mut self, question: Question) -> Result<Value, String> {
        match question {
            Question::Choices => Ok(operators::choices()),
            Question::Symbols => Ok(waves::symbols()),
            Question::Stability(question) => question.answer(),
            Question::Inverse(question) => question.answer(),
            Question::Reduction(question) => question.answer(),
            Question::Ranks(question) => question.answer(),
            Question::Start(start) => {
                self.flow = None; // Frees its memory before the next flow is created.
                self.flow.insert(flow::Flow::new(&start)?).describe()
            }
            Question::Advance(by) => self.flow()?.advance(&by),
            Question::Picture(wanted) => self.flow()?.draw(&wanted),
        }
    }

    fn flow(&mut self) -> Result<&mut flow::Flow, String> {
        self.flow.as_mut().ok_or_else(|| "no flow was started".to_string())
    }
}
