//! The session itself: who owns the agent, and the talk with it.

mod actor;
mod answers;
mod client;
mod commands;
mod connection;
mod start;
mod turn;

pub(crate) use client::AcpClient;
pub(crate) use start::{Live, late};
