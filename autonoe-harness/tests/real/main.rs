//! Tests of the same tasks on the real CLIs, offline: the model behind each is scripted.
#![cfg(target_os = "linux")]

mod claude;
mod codex;
mod fixture;
mod fleet;
mod gemini;
