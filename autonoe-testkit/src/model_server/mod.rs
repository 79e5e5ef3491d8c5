//! Scripted model servers: the model APIs of vendors, played from a script on the loopback address.
//!
//! With such a server in place of the vendor's, the *real* program of a vendor runs offline, free
//! of charge and deterministically, with your hooks and tools in the loop. The script defines the
//! answers of the model; the log contains the requests of the program.
//!
//! There is one module per vendor: [`anthropic`] has the Messages API, [`openai`] the Responses API
//! and Chat Completions, [`gemini`] the Gemini API. A [`ModelScript`] of [`Turn`]s is the same for
//! all of them, and so is the [`ReceivedPrompt`] in the log: a vendor module only encodes a turn in
//! its own format and decodes requests from it. A turn that a vendor's format cannot express leaves
//! its request unanswered.
//!
//! A server listens on a free port on its own thread, and stops when it is dropped. Each request is
//! an [`Exchange`] in its [`RequestLog`], which a test can inspect and wait on.
//!
//! A server is as strict as scripted agents: a request for which the script has no answer gets an
//! error that the program shows, is logged as [`ServerAnswer::Unanswered`], and fails the test in
//! `verify` and on drop. A turn that was never requested does the same.

mod api;
mod connection;
mod headers;
mod ids;
mod json;
mod log;
mod message;
mod prompt;
mod refusal;
mod script;
mod scripted_api;
mod server;
mod stream_fault;
mod streamed_body;
mod turn;

pub mod anthropic;
pub mod gemini;
pub mod openai;

pub use headers::{Credential, Headers};
pub use log::{Ending, Exchange, Request, RequestLog, RequestTimeout, ServerAnswer};
pub use message::{MessageStopReason, ScriptedMessage, Usage};
pub use prompt::{
    OfferedTool, PromptBlock, PromptMessage, PromptToolResult, ReceivedPrompt, Thinking,
};
pub use refusal::Refusal;
pub use script::{MainRequests, ModelScript};
pub use server::ModelServer;
pub use stream_fault::{FaultPosition, StreamFault};
pub use turn::Turn;
