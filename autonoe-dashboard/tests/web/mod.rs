//! Tests of the page and its API over HTTP, without a browser.

mod actions;
mod fixture;
mod limits;
mod refusals;
mod responses;
mod run;
mod schemas;
mod shutdown;
