//! Any agent by its command line: here scripts for the shell that speak the protocol, well or not.

mod agent;
mod endings;
mod noise;
mod questions;
mod resume;
mod turns;
