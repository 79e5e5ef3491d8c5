//! Agents started by a command line: shell scripts that follow or violate the protocol.

mod agent;
mod agent_failures;
mod invalid_messages;
mod permission_requests;
mod resume;
mod turns;
