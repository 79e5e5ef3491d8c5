//! Tests of both views of a fleet, without a browser.

#[path = "shared/sample.rs"]
mod sample;
mod terminal;
mod web;
