//! What a provider is to do.

use autonoe_core::TokenUsage;
use jiff::Timestamp;

use crate::contract::{AssistantMessage, ModelErrorCode};

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
