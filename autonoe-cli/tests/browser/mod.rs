//! The browser of a run: the real Claude Code or an agent in this process, the real Playwright MCP
//! server and Debian's Chromium, against a page on loopback, with a scripted model.

pub(crate) mod chromium;
mod on_model;
pub(crate) mod playwright;
mod runs;
mod setting;
pub(crate) mod site;
mod tools;
