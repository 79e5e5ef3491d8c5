//! The command on backends that a person or a project chooses, the real Codex and the real Gemini
//! CLI among them, offline: their models are scripted.

mod agent_json;
mod browser;
mod claude;
mod codex;
mod commands_only;
mod doctor;
mod gemini;
mod killed;
mod refused;
mod setting;
