//! The backends that are measured.

use serde_json::{Value, json};

use crate::model::Vendor;

/// A backend that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Claude Code of a version.
    Claude(&'static str),
    Codex,
    Gemini,
    /// Our agent on a model.
    Model,
    /// Scripted agents, which have no model.
    Scripted,
}

impl Backend {
    pub(crate) const ALL: [Self; 6] = [
        Self::Claude("2.1.197"),
        Self::Claude("2.1.325"),
        Self::Codex,
        Self::Gemini,
        Self::Model,
        Self::Scripted,
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Claude(version) => format!("Claude Code {version}"),
            Self::Codex => "Codex 0.166.0".to_owned(),
            Self::Gemini => "Gemini CLI 0.61.0".to_owned(),
            Self::Model => "agent on a model".to_owned(),
            Self::Scripted => "scripted agents".to_owned(),
        }
    }

    /// Returns who serves its model, if it has one.
    pub(crate) fn vendor(self) -> Option<Vendor> {
        match self {
            Self::Claude(_) | Self::Model => Some(Vendor::Anthropic),
            Self::Codex => Some(Vendor::OpenAi),
            Self::Gemini => Some(Vendor::Google),
            Self::Scripted => None,
        }
    }

    /// Returns how many sessions are under way at once where memory is measured: more of those
    /// that are small.
    pub(crate) fn at_once(self) -> u32 {
        match self {
            Self::Claude(_) | Self::Codex | Self::Gemini => 4,
            Self::Model => 32,
            Self::Scripted => 500,
        }
    }
}

impl Vendor {
    /// Returns the call of a tool that says hello, in the words of the vendor's program.
    pub(crate) fn hello(self) -> (&'static str, Value) {
        let command = "echo hello";
        match self {
            Self::Anthropic => {
                let input = json!({"command": command, "description": "says hello"});
                ("Bash", input)
            }
            Self::OpenAi => ("exec_command", json!({"cmd": command})),
            Self::Google => ("run_shell_command", json!({"command": command})),
        }
    }
}
