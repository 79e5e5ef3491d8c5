//! Tests of the command without programs of vendors.

mod commands;
mod packaging;
mod session_host;
