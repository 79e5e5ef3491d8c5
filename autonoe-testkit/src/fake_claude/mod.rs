//! A program in the place of Claude Code that replays recordings and fails on request.
//!
//! `fake-claude` speaks to a host as the real program does: it repeats what the program wrote in
//! a recorded session and waits where the host wrote something. In addition it fails in the ways
//! that the real one rarely does in a test: it dies in the middle of a line, falls silent, never
//! ends, or did not start as it was asked to. No model, no network, no account.
//!
//! The program is [`main`]. It plays the [`FakeScript`] in the file that the environment
//! variable [`SCRIPT`] names, because its arguments belong to the host under test.
//! [`play`] is the same as a function.
//!
//! ```
//! use autonoe_testkit::fake_claude::{FakeScript, Surroundings, play};
//! use serde_json::{Value, json};
//!
//! let host = [
//!     json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}}),
//!     json!({"type": "user", "message": {"role": "user", "content": "Greet."}}),
//! ];
//! let host: String = host.iter().map(|line| format!("{line}\n")).collect();
//! let mut written = Vec::new();
//! let code = play(
//!     &FakeScript::says(["Hello."]),
//!     Surroundings::new([], "/"),
//!     std::io::Cursor::new(host),
//!     &mut written,
//!     &mut Vec::new(),
//! );
//!
//! assert_eq!(code, 0);
//! let last: Value = serde_json::from_str(String::from_utf8(written)?.lines().last().unwrap())?;
//! assert_eq!((&last["type"], &last["result"]), (&json!("result"), &json!("Hello.")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod arguments;
mod build;
mod host;
mod lines;
mod mishaps;
mod program;
mod recording;
mod replay;
mod script;
mod streams;

pub use build::Build;
pub use program::{LOG, SCRIPT, Surroundings, main, play};
pub use script::{Deviation, FakeScript, Fault, Mishap, Moment, Part, Start};
pub use streams::Signal;
