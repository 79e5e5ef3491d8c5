//! The browser of a run: the real Claude Code or an agent in this process, the real Playwright MCP
//! server and Debian's Chromium, against a page on loopback, with a scripted model.

#[path = "../../../autonoe-testkit/tests/model_server_with_claude/build.rs"]
mod build;
mod chromium;
mod on_model;
mod playwright;
mod runs;
mod setting;
mod site;
mod tools;
