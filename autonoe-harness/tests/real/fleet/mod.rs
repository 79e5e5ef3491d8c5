//! Claude Code, Codex and Gemini CLI as members of one fleet.

mod cli;
mod git;
mod processes;
mod race;
mod stage;
mod turns;
mod voting;
mod work;
