//! Tests of Claude Code, Codex and Gemini CLI as members of one fleet.

mod cli;
mod fixture;
mod git;
mod processes;
mod race;
mod turns;
mod voting;
mod work;
