//! Tests of the page in a real browser: Debian's Chromium in headless mode.

mod accessibility;
mod actions;
mod fixture;
#[path = "../shared/sample.rs"]
mod sample;
mod security;
mod updates;
