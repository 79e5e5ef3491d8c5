//! A program in the place of Claude Code, that plays scripts, recordings and faults.
//!
//! `fake-claude` talks to a host as the real program does, made of lines that were
//! recorded from two builds of it: it answers, asks hooks, greets the host's MCP server
//! and calls its tools, carries out what it was allowed to, and ends in all the ways in
//! which the real one does. In addition it does what the real one hardly ever does while
//! somebody looks: it dies in the middle of a line, says nothing, never ends, or did not
//! get what it was asked to start with. No model, no network, no account.
//!
//! The program is [`main`]; it plays the [`FakeScript`] in the file that the environment
//! variable [`SCRIPT`] names, because its arguments belong to the host under test.
//! [`play`] is the same with everything passed in.
//!
//! ```
//! use autonoe_testkit::fake_claude::{FakeScript, FakeTurn, Surroundings, ToolUse, play};
//! use serde_json::{Value, json};
//!
//! let project = tempfile::tempdir()?;
//! let script = FakeScript::new([FakeTurn::new()
//!     .uses(ToolUse::bash("echo hello > greeting.txt"))
//!     .says("It is written.")]);
//!
//! // A host without hooks that bypasses all permissions.
//! let host = [
//!     json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}}),
//!     json!({"type": "user", "message": {"role": "user", "content": "Greet."}}),
//! ];
//! let host: String = host.iter().map(|line| format!("{line}\n")).collect();
//! let place = Surroundings::new(
//!     ["--permission-mode=bypassPermissions".to_owned()],
//!     project.path(),
//! );
//! let mut said = Vec::new();
//! let code = play(&script, place, std::io::Cursor::new(host), &mut said, &mut Vec::new());
//!
//! assert_eq!(code, 0);
//! assert_eq!(std::fs::read_to_string(project.path().join("greeting.txt"))?, "hello\n");
//! let last: Value = serde_json::from_str(String::from_utf8(said)?.lines().last().unwrap())?;
//! assert_eq!((&last["type"], &last["result"]), (&json!("result"), &json!("It is written.")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asked;
mod build;
mod fault;
mod host;
mod inlet;
mod outlet;
mod player;
mod program;
mod recording;
mod script;
mod shape;
mod shell;
mod step;
mod surroundings;
mod tool_use;
mod turn_end;

pub use build::Build;
pub use fault::{Deviation, Fault, Mishap, Start};
pub use program::{LOG, SCRIPT, main, play};
pub use script::{FakeScript, FakeTurn, Part};
pub use step::Step;
pub use surroundings::{Signal, Surroundings};
pub use tool_use::{Effect, ToolUse};
pub use turn_end::TurnEnd;
