//! The APIs of OpenAI, from a script: Responses and Chat Completions.
//!
//! An [`OpenAiServer`] plays a [`Script`](super::Script) to whoever asks for
//! `/v1/responses` or for `/v1/chat/completions`, each in its own shape. The second is also
//! what many other services speak, at other places; any path with this end is understood.
//!
//! What a message becomes:
//!
//! | in the script | Responses | Chat Completions |
//! | --- | --- | --- |
//! | `says` | an item `message` | `content` |
//! | `thinks` | an item `reasoning` with a `summary`; `encrypted_content`, if `include` asks for it | `reasoning_content` |
//! | `uses_tool` | an item `function_call` | `tool_calls`; the pieces of neighbours take turns, told apart by `index` |
//! | `with_raw_block` | an output item | fields of the message, or of one `delta` |
//! | `StopReason::MaxTokens` | `incomplete`, `max_output_tokens` | `length` |
//! | `StopReason::Refusal` | `incomplete`, `content_filter` | `content_filter` |
//! | `StopReason::Other` | `incomplete`, for this reason | this `finish_reason` |
//! | `StreamFault::Error` | an event `error` with this `code` | a chunk with an `error` of this `type` |
//! | `StreamFault::Failed` | `response.failed` | as `StreamFault::Error` |

mod chat;
mod refusal;
mod responses;
mod server;

pub use server::OpenAiServer;

/// When all answers were made: the same script gives the same bytes.
const CREATED: u64 = 1_794_700_800;
