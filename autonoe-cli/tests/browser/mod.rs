//! Tests of the browser in a run: the real Claude Code or an agent in this process, the real
//! Playwright MCP server and Debian's Chromium, with a page on loopback and a scripted model.

pub(crate) mod chromium;
mod fixture;
mod on_model;
pub(crate) mod playwright;
mod runs;
pub(crate) mod site;
mod tools;
