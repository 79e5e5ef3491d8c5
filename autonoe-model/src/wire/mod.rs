//! The protocols of providers, without I/O: from a request to JSON, and from events to an answer.
//!
//! A protocol is a [`Wire`]. It knows no connection and no clock: who sends what it encodes and
//! hands it what comes back is in `transport`.

pub(crate) mod anthropic;
pub(crate) mod attachment;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod openai_responses;

mod decoder;
mod encoded;
mod openai;
mod refusal;

pub(crate) use decoder::{Decoder, ServerEvent};
pub(crate) use encoded::Encoded;
pub(crate) use refusal::{Refusal, status_code_of};

use crate::contract::{ModelError, ModelRequest};

/// A protocol that models are asked over.
pub(crate) trait Wire: Send + Sync + 'static {
    /// Names the protocol, also in the [`WireItem`](crate::WireItem)s of what comes over it.
    fn protocol(&self) -> &'static str;

    /// Says how the key is sent: the name of a header, and its value.
    fn credential(&self, key: &str) -> (&'static str, String);

    /// Writes down what `model` is asked.
    ///
    /// Parts of earlier answers that came over this protocol are sent back unchanged and in
    /// their order; of others, what they mean, without their thoughts.
    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded;

    /// Begins to read an answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Says what an answer means that is no success.
    fn refused(&self, refusal: &Refusal) -> ModelError;
}
