//! How a suite gets clients whose provider does what it needs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::TokenUsage;
use jiff::Timestamp;
use serde_json::Value;

use crate::contract::{AssistantMessage, ModelClient, ModelError, ModelErrorCode};

/// Makes a provider do what a suite needs.
///
/// An implementer owes the real client, and in the place of the provider something that is
/// scripted, a server for example.
#[async_trait]
pub trait ModelHarness: Send + Sync {
    /// Makes the provider play `scenario`.
    ///
    /// # Errors
    ///
    /// The provider cannot do such a thing; the checks that need it are skipped. Or the client
    /// cannot be made, which is what a failure of the configuration looks like.
    async fn stage(&self, scenario: &Scenario) -> Result<Box<dyn Stage>, NotStaged>;

    /// Returns the key that the clients prove themselves with. It must be found nowhere.
    fn key(&self) -> &str;

    /// Returns all that a program can print of a client and of what makes it: its spec, its
    /// provider. Without any, nobody looks for a key there.
    fn shown(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns how long anything may take, in tokio's time.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// A provider that plays a scenario, and its client.
#[async_trait]
pub trait Stage: Send + Sync {
    /// Returns the client, always the same.
    fn model(&self) -> Arc<dyn ModelClient>;

    /// Returns the requests that came so far, as JSON, the oldest first.
    fn requests(&self) -> Vec<Value>;

    /// Waits until the client has left in the middle of an answer. The suite limits the wait.
    async fn client_left(&self);

    /// Returns what the first answer was in the provider's words, and what the last request has
    /// in its place; `None` if that cannot be seen.
    fn replayed(&self) -> Option<Replayed>;
}

/// An answer, as it came and as it went back.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What the provider had said.
    pub came: Value,
    /// What it got back.
    pub went_back: Value,
}

/// Why a scenario is not played.
#[derive(Clone, Debug, PartialEq)]
pub enum NotStaged {
    /// The provider cannot do such a thing.
    Impossible,
    /// The client cannot be made.
    Failed(ModelError),
}

impl From<ModelError> for NotStaged {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// What a provider is to do, whatever it is asked, and as often as it is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scenario {
    /// Answers. A part [`Opaque`](crate::PartKind::Opaque) is one of the provider's choice that
    /// no client knows; a text comes in several pieces.
    Answers {
        /// What it says, thinks and calls, under the ids of the script.
        message: AssistantMessage,
        /// What it says that the call used. A provider that cannot tell one of the figures that
        /// are not 0 cannot play this.
        usage: TokenUsage,
    },
    /// Says a part of `text`, then nothing until the client leaves. The client must have
    /// time-outs that do not end it before.
    Pauses {
        /// What it begins to say.
        text: String,
    },
    /// Says a part of `text`, and then the stream breaks.
    Breaks {
        /// What it begins to say.
        text: String,
        /// How it breaks.
        how: BrokenStream,
    },
    /// Refuses the call, in the provider's words for this failure. Where it is one of the
    /// configuration, [`NotStaged::Failed`](super::NotStaged::Failed) shows it.
    Refuses {
        /// What it is for a caller.
        code: ModelErrorCode,
    },
    /// Refuses the call because there were too many.
    Limits {
        /// How long it asks to wait.
        wait: Option<AskedWait>,
    },
    /// Answers with a page of HTML, as a network on the way might.
    Page {
        /// The status of the HTTP answer.
        status: u16,
    },
    /// Closes the connection without a word.
    HangsUp,
    /// Never says anything. The client must have a time-out that ends it soon.
    SaysNothing,
    /// Refuses the call, and repeats the key of the client wherever it can.
    RepeatsKey,
}

/// How a stream breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenStream {
    /// The connection is closed.
    Cut,
    /// The answer of HTTP ends well, but the protocol's own end never came.
    Ends,
    /// Something comes that the protocol does not have: JSON that is none.
    Malformed,
    /// Nothing more comes. The client must have a time-out that ends it soon.
    Silent,
    /// The provider says in the stream that it fails.
    Fails {
        /// What it is for a caller.
        code: ModelErrorCode,
    },
    /// The provider says in the stream that it fails, and repeats the key of the client.
    RepeatsKey,
}

/// How long a provider asks to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskedWait {
    /// For so many seconds.
    Seconds(u64),
    /// Until this time, as a date of HTTP.
    Until(Timestamp),
}
