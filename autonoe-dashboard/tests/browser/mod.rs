//! The page in a real browser: Debian's Chromium without a window.

mod acting;
mod chromium;
mod foreign;
mod living;
mod readable;
#[path = "../shared/sample.rs"]
mod sample;
mod setting;
