//! The page and its interface over HTTP, without a browser.

mod acting;
mod ending;
mod limits;
mod refusing;
#[path = "../shared/sample.rs"]
mod sample;
mod schemas;
mod serving;
mod setting;
