//! The session itself: the agent, the talk with it, and who answers.

mod answers;
mod connection;
mod start;
mod turn;

pub(crate) use start::{Live, late};
