//! What is said between an agent and its tools, whichever way it comes.

mod calls;
mod desk;
mod message;

pub(crate) use calls::{Call, Calls};
pub(crate) use desk::{Desk, Reply, VERSIONS};
pub(crate) use message::{Incoming, failure, read};
