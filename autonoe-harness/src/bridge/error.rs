//! What goes wrong between two programs that talk over a pipe.

/// What goes wrong between two programs that talk over a pipe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The pipe cannot be read or written.
    #[error("the pipe cannot be read or written")]
    Io(#[from] std::io::Error),
    /// A line is longer than any may be.
    #[error("a line has more than {limit} bytes")]
    TooLong {
        /// So many it may have.
        limit: usize,
    },
    /// A line is not one of those that were agreed on.
    #[error("nobody understands the line \"{line}\"")]
    NotUnderstood {
        /// How it begins, such that it can be shown.
        line: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The other program speaks something else.
    #[error("the other program speaks {theirs}, and this one speaks {ours}")]
    OtherProtocol {
        /// What it speaks.
        theirs: String,
        /// What this one speaks.
        ours: String,
    },
    /// Something was said that does not belong there.
    #[error("the other program said something out of turn: {what}")]
    OutOfTurn {
        /// What.
        what: String,
    },
}

impl BridgeError {
    /// Returns a stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "bridge_pipe",
            Self::TooLong { .. } => "bridge_line_too_long",
            Self::NotUnderstood { .. } => "bridge_not_understood",
            Self::OtherProtocol { .. } => "bridge_other_protocol",
            Self::OutOfTurn { .. } => "bridge_out_of_turn",
        }
    }

    pub(super) fn out_of_turn(what: impl Into<String>) -> Self {
        Self::OutOfTurn { what: what.into() }
    }
}
