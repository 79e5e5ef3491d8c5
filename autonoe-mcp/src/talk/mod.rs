//! What is said between an agent and its tools, whichever way it comes.

mod call;
mod calls;
mod desk;
mod message;
mod progress;

pub(crate) use call::Call;
pub(crate) use calls::Calls;
pub(crate) use desk::{Desk, Reply, VERSIONS};
pub(crate) use message::{Incoming, failure, read};
