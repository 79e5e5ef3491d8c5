//! The page and its interface over HTTP, without a browser.

mod acting;
mod ending;
mod limits;
mod refusing;
mod schemas;
mod serving;
mod setting;
