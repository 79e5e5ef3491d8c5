//! Tests of the terminal view and the web view of a fleet, without a browser.

#[path = "shared/sample.rs"]
mod sample;
mod terminal;
mod web;
