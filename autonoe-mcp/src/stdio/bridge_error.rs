//! Why nothing can be handed on.

use std::io;

/// Why nothing can be handed on. It names no address and no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The address is none that a run has.
    #[error("the address of the run's tools must be one of this machine: http://127.0.0.1:PORT/..")]
    Address,
    /// The secret is none that can be sent.
    #[error("the secret of the run's tools cannot be sent")]
    Token,
    /// Nobody is there.
    #[error("the run is over: nobody serves its tools any more")]
    Gone(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run does not let us in.
    #[error("the run does not serve these tools any more, or not with this secret (status {0})")]
    Refused(u16),
    /// The agent cannot be talked to.
    #[error("the agent cannot be talked to")]
    Pipe(#[source] io::Error),
}
