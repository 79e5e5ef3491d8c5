//! Session of an agent: its process, the connection to it, and the answers to its requests.

mod answers;
mod connection;
mod start;
mod turn;

pub(crate) use start::{RunningAgent, within_start_limit};
