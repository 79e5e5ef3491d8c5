//! Tests of the command with the vendors' programs and a real browser.

mod backends;
mod browser;
#[allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "the tests here run on one build"
)]
#[path = "../../autonoe-claude/tests/real/build.rs"]
mod build;
mod choosing;
mod everyday;
mod guide;
mod harness;
mod models;
mod report;
mod runs;
