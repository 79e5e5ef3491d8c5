//! Tests of the in-process agent: its loop, its limits, and its end.

mod assistance;
mod conformance;
mod fixture;
mod idle;
mod interruption;
mod long_conversations;
mod loops;
mod mcp;
mod names;
mod observers;
mod project_memory;
mod properties;
mod resume;
mod retries;
mod stop_reasons;
mod usage;
