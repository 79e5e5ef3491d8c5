//! Tests of the command without programs of vendors.

mod commands;
mod migration;
mod packaging;
mod session_host;
