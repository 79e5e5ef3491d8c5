//! Wire protocols of providers, without I/O: encoding of requests and decoding of answers.
//!
//! A protocol is a `Wire`. It knows neither connections nor clocks; `transport` sends its requests
//! and feeds it the responses.

pub mod anthropic;
pub(crate) mod attachment;
pub mod chat;
pub(crate) mod gemini;
pub mod openai_responses;

mod decoder;
mod encoded;
mod openai;
mod refusal;

pub(crate) use decoder::{Decoder, ServerEvent};
pub(crate) use encoded::Encoded;
pub(crate) use refusal::{Refusal, status_code_of};

use crate::contract::{ModelError, ModelRequest};

/// Wire protocol of a model API.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Returns the name of the protocol, which is also recorded in the
    /// [`WireItem`](crate::contract::WireItem)s that it decodes.
    fn protocol(&self) -> &'static str;

    /// Returns the header for the key: name and value.
    fn credential(&self, key: &str) -> (&'static str, String);

    /// Encodes a request to `model`.
    ///
    /// Parts of earlier answers over this protocol are sent back unchanged and in their order.
    /// Other parts are sent by their meaning, without reasoning.
    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded;

    /// Creates a decoder for an answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Converts an error response.
    fn refusal_error(&self, refusal: &Refusal) -> ModelError;
}
