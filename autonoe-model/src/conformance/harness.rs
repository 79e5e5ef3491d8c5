//! [`ModelHarness`]: test double of a provider for the conformance suite.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::TokenUsage;
use jiff::Timestamp;
use serde_json::Value;

use crate::contract::{AssistantMessage, ModelClient, ModelError, ModelErrorCode};

/// Makes a provider behave as a scenario of the suite requires.
///
/// An implementation returns the real client, connected to a scripted provider, for example a
/// server.
#[async_trait]
pub trait ModelHarness: Send + Sync {
    /// Makes the provider play `scenario`.
    ///
    /// # Errors
    ///
    /// [`NotStaged::Impossible`] if the provider cannot do such a thing; the checks that need it
    /// are skipped. [`NotStaged::Failed`] if the client cannot be created, as with an invalid
    /// configuration.
    async fn stage(
        &self,
        scenario: &ProviderScenario,
    ) -> Result<Box<dyn StagedProvider>, NotStaged>;

    /// Returns the API key of the clients. The suite checks that it appears nowhere.
    fn key(&self) -> &str;

    /// Returns everything that a program could print of a client, its spec and its provider. If
    /// empty, the key is not searched there.
    fn printed(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the time limit of each step, in Tokio's time.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// A provider that plays a scenario, and its client.
#[async_trait]
pub trait StagedProvider: Send + Sync {
    /// Returns the client, always the same one.
    fn model(&self) -> Arc<dyn ModelClient>;

    /// Returns the received requests as JSON, oldest first.
    fn requests(&self) -> Vec<Value>;

    /// Waits until the client has disconnected in the middle of an answer. The suite limits the
    /// wait.
    async fn wait_for_disconnect(&self);

    /// Returns the first answer in the provider's format and its counterpart in the last request;
    /// `None` if these are not observable.
    fn replayed(&self) -> Option<Replayed>;
}

/// An answer as received and as sent back.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Answer of the provider.
    pub received: Value,
    /// Same answer in a later request.
    pub sent_back: Value,
}

/// Reason that a scenario is not played.
#[derive(Clone, Debug, PartialEq)]
pub enum NotStaged {
    /// The provider cannot do such a thing.
    Impossible,
    /// The client cannot be created.
    Failed(ModelError),
}

impl From<ModelError> for NotStaged {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// Behaviour of a provider for all requests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProviderScenario {
    /// Answers. An [`Opaque`](crate::contract::PartKind::Opaque) part is one of the provider's
    /// choice that no client knows. A text comes in several pieces.
    Answers {
        /// Text, thinking and calls, with the IDs of the script.
        message: AssistantMessage,
        /// Reported usage. A provider that cannot report one of the non-zero figures cannot play
        /// this scenario.
        usage: TokenUsage,
    },
    /// Sends a part of `text`, then nothing until the client disconnects. The client's timeouts
    /// must not fire before.
    Pauses {
        /// Text to start with.
        text: String,
    },
    /// Sends a part of `text`, then the stream breaks.
    Breaks {
        /// Text to start with.
        text: String,
        /// Kind of the failure.
        kind: BrokenStream,
    },
    /// Refuses the call, in the provider's format for this error. For errors of the configuration,
    /// return [`NotStaged::Failed`](super::NotStaged::Failed).
    Refuses {
        /// Error code for the caller.
        code: ModelErrorCode,
    },
    /// Refuses the call because of a rate limit.
    Limits {
        /// Requested delay.
        wait: Option<RequestedDelay>,
    },
    /// Answers with an HTML page, like a proxy on the way.
    Page {
        /// HTTP status of the answer.
        status: u16,
    },
    /// Closes the connection without an answer.
    HangsUp,
    /// Never answers. The client must have a short timeout.
    Hangs,
    /// Refuses the call, and repeats the client's key wherever possible.
    RepeatsKey,
}

/// Failure of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenStream {
    /// The connection is closed.
    Cut,
    /// The HTTP response ends normally, but without the protocol's end marker.
    Ends,
    /// An event contains invalid JSON.
    Malformed,
    /// Nothing more is sent. The client must have a short timeout.
    Silent,
    /// The provider reports an error in the stream.
    Fails {
        /// Error code for the caller.
        code: ModelErrorCode,
    },
    /// The provider reports an error in the stream, and repeats the client's key.
    RepeatsKey,
}

/// Delay that a provider requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestedDelay {
    /// Number of seconds.
    Seconds(u64),
    /// Point in time, as an HTTP date.
    Until(Timestamp),
}
