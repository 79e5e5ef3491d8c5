//! Scripted server of the Google Gemini API.
//!
//! A [`GeminiServer`] plays a [`ModelScript`](super::ModelScript) to clients that request
//! `/v1beta/models/<model>:generateContent` or, as a stream, `:streamGenerateContent?alt=sse`.
//!
//! Mapping of a message:
//!
//! | in the script | Gemini |
//! | --- | --- |
//! | `says` | a part `text` |
//! | `thinks` | a part `text` with `thought` |
//! | `uses_tool` | a part `functionCall`, without an id |
//! | `uses_tool_as` | a part `functionCall` with this id |
//! | `signed` | `thoughtSignature` on the last part; the first `functionCall` has one in any case |
//! | `with_raw_block` | a part |
//! | `MessageStopReason::EndTurn`, `ToolUse`, `StopSequence` | `STOP` |
//! | `MessageStopReason::MaxTokens` | `MAX_TOKENS` |
//! | `MessageStopReason::Refusal` | `SAFETY` |
//! | `MessageStopReason::Other` | this `finishReason` |
//! | `StreamFault::Error` | an `error` of this `status` in the stream |
//! | `Refusal::retry_after` | `RetryInfo` in the details of the error |
//!
//! A blocked prompt has no candidates, and no message can express that: script it with
//! [`Turn::raw`](super::Turn::raw).

mod chunks;
mod read;
mod refusal;
mod server;

pub use server::GeminiServer;
