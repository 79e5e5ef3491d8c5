//! SQLite files shared between processes.

mod connection;
mod kind;
mod open;
mod rows;

pub(crate) use connection::Database;
pub(crate) use kind::{META, SHARED, STATE};
pub(crate) use rows::{
    DatabaseError, collect, from_json, from_json_optional, json, number, parse_column, to_stored,
    unreadable,
};
