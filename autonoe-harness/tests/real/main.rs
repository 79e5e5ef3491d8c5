//! The same tasks on the real programs, offline: the model behind each is scripted.
#![cfg(target_os = "linux")]

mod claude;
mod codex;
mod fleet;
mod gemini;
mod setting;
