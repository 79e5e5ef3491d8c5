//! Tests of Claude Code, Codex and Gemini CLI as members of one fleet.

mod cli;
mod fixture;
mod processes;
mod strategies;
