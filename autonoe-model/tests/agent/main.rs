//! The agent in this process: its loop, its limits, and how it ends.

mod assistance;
mod conformance;
mod long_conversations;
mod loops;
mod mcp;
mod observers;
mod properties;
mod retries;
mod setting;
mod stopping;
