//! SQLite files that processes share: whose they are, how they are opened, who works in them.

mod columns;
mod connection;
mod events;
mod kind;
mod open;
mod trouble;

pub(crate) use columns::{
    collect, json, number, of_json, of_json_if_any, parsed, parsed_if_any, stored, unreadable,
};
pub(crate) use connection::Database;
pub(crate) use events::{append_event, events_since};
pub(crate) use kind::{META, SHARED, STATE};
pub(crate) use trouble::Trouble;
