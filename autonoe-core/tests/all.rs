//! Integration tests of `autonoe-core`.

mod bad_input;
mod behaviour;
mod compat;
mod config;
mod contracts;
mod engine;
mod instructions;
mod layers;
mod project;
mod schemas;
mod simulation;
mod takeover;
