//! Tests of the command on backends that the operator or the project selects, including the real
//! Codex and the real Gemini CLI, offline with scripted models.

mod agent_json;
mod browser;
mod claude;
mod codex;
mod commands_only;
mod doctor;
mod fixture;
mod gemini;
mod killed;
mod refused;
