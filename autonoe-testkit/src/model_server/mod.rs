//! Scripted model servers: the model APIs of vendors, from a script, on the loopback address.
//!
//! With one of these in the place of the vendor's, the *real* program of a vendor runs
//! offline, free of charge and the same way each time, with your hooks and tools in the
//! loop. The script says what the model answers; the log has what the program sent.
//!
//! A module per vendor: [`anthropic`] has the Messages API, [`openai`] the Responses API and
//! Chat Completions, [`gemini`] the Gemini API. A [`Script`] of [`Turn`]s is the same for all
//! of them, and so is the [`Prompt`] in the log: a vendor only puts a turn into its own words,
//! and reads what was asked in them. A turn that a vendor has no words for leaves its request
//! unanswered.
//!
//! A server listens on a free port, on a thread of its own, and is gone when it is dropped.
//! Each request is an [`Exchange`] in its [`RequestLog`], in which a test can look and with
//! which it can wait.
//!
//! A server is strict, as scripted agents are: a request for which the script has no answer
//! gets an error that the program shows, stands as [`Answer::Unanswered`] in the log, and
//! fails the test in `verify` and on drop. So does a turn that nobody asked for.

mod api;
mod connection;
mod cut;
mod event;
mod exchange;
mod headers;
mod ids;
mod json;
mod listener;
mod log;
mod message;
mod pieces;
mod playing;
mod prompt;
mod refusal;
mod reply;
mod request;
mod script;
mod scripted;
mod server;
mod stop;
mod turn;
mod vendor;

pub mod anthropic;
pub mod gemini;
pub mod openai;

pub use cut::{Place, StreamFault};
pub use exchange::{Answer, Ending, Exchange};
pub use headers::{Credential, Headers};
pub use log::{NotSeen, RequestLog};
pub use message::Message;
pub use prompt::{OfferedTool, Prompt, PromptBlock, PromptMessage, Thinking, ToolResult};
pub use refusal::Refusal;
pub use request::Request;
pub use script::{MainRequests, Script};
pub use server::ModelServer;
pub use stop::{StopReason, Usage};
pub use turn::Turn;
