//! Tests of the command that need no vendor programs.

mod commands;
mod migration;
mod packaging;
