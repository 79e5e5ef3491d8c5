//! Scripted server of the OpenAI APIs: Responses and Chat Completions.
//!
//! An [`OpenAiServer`] plays a [`ModelScript`](super::ModelScript) to clients that request
//! `/v1/responses` or `/v1/chat/completions`, each in its own format. Many other services offer Chat
//! Completions under other paths; any path with this suffix is accepted.
//!
//! Mapping of a message:
//!
//! | in the script | Responses | Chat Completions |
//! | --- | --- | --- |
//! | `says` | an item `message` | `content` |
//! | `thinks` | an item `reasoning` with a `summary`; `encrypted_content`, if `include` asks for it | `reasoning_content` |
//! | `uses_tool` | an item `function_call` | `tool_calls`; the pieces of adjacent calls are interleaved, distinguished by `index` |
//! | `with_raw_block` | an output item | fields of the message, or of one `delta` |
//! | `MessageStopReason::MaxTokens` | `incomplete`, `max_output_tokens` | `length` |
//! | `MessageStopReason::Refusal` | `incomplete`, `content_filter` | `content_filter` |
//! | `MessageStopReason::Other` | `incomplete`, for this reason | this `finish_reason` |
//! | `StreamFault::Error` | an event `error` with this `code` | a chunk with an `error` of this `type` |
//! | `StreamFault::Failed` | `response.failed` | as `StreamFault::Error` |

mod chat;
mod refusal;
mod responses;
mod server;

pub use server::OpenAiServer;

/// The creation time of all answers, constant so that a script always produces the same bytes.
const CREATED: u64 = 1_794_700_800;
