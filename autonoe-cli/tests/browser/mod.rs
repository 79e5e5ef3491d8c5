//! Tests of the browser in a run: the real Claude Code or an agent in this process, the real
//! Playwright MCP server and Debian's Chromium, with a page on loopback and a scripted model.

mod fixture;
pub(crate) mod programs;
mod runs;
pub(crate) mod site;
mod tools;
