//! The agent in this process: its loop, its limits, and how it ends.

mod accounts;
mod assistance;
mod conformance;
mod life;
mod long_conversations;
mod loops;
mod mcp;
mod names;
mod observers;
mod project_memory;
mod properties;
mod resume;
mod retries;
mod setting;
mod stop_reasons;
mod stopping;
