//! What goes wrong in the middle of a stream.

/// What goes wrong in the middle of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamFault {
    /// The connection is closed.
    Cut,
    /// Nothing more is said until the client leaves.
    Hang,
    /// The answer ends as HTTP wants it, as if nothing were missing.
    End,
    /// An event comes whose data is no JSON; then the stream goes on.
    Malformed,
    /// An `error` event of this type comes, such as `overloaded_error`, and the stream ends.
    Error {
        /// What the vendor calls the type of the error: its `type`, in the Responses API its
        /// `code`, with Gemini its `status`.
        kind: String,
        /// What it says.
        message: String,
    },
    /// The answer itself is said to have failed, and the stream ends: `response.failed` in the
    /// Responses API. Elsewhere it is an [`Error`](Self::Error) of this type.
    Failed {
        /// The code of the failure, such as `rate_limit_exceeded`.
        code: String,
        /// What it says.
        message: String,
    },
}

/// Where in a stream something goes wrong. Blocks are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// After so many events; 0 is before the first.
    AfterEvents(usize),
    /// In the middle of a block: it was begun, and not finished.
    InBlock(usize),
    /// Right after a block was finished.
    AfterBlock(usize),
}
