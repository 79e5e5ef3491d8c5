//! SQLite files shared between processes.

mod connection;
mod open;

pub(crate) use connection::{
    Database, collect, from_json, from_json_optional, json, number, parse_column, to_stored,
    unreadable,
};
pub(crate) use open::{DatabaseError, META, SHARED, STATE};
