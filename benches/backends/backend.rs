//! The measured backends.

use serde_json::{Value, json};

use crate::model::Vendor;

/// A measured backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Claude Code of this version.
    Claude(&'static str),
    Codex,
    Gemini,
    /// The built-in agent on a model.
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

    /// Returns the vendor that serves its model; `None` if it has no model.
    pub(crate) fn vendor(self) -> Option<Vendor> {
        match self {
            Self::Claude(_) | Self::Model => Some(Vendor::Anthropic),
            Self::Codex => Some(Vendor::OpenAi),
            Self::Gemini => Some(Vendor::Google),
            Self::Scripted => None,
        }
    }

    /// Returns the number of concurrent sessions in the memory measurement: more for backends with
    /// small sessions.
    pub(crate) fn at_once(self) -> u32 {
        match self {
            Self::Claude(_) | Self::Codex | Self::Gemini => 4,
            Self::Model => 32,
            Self::Scripted => 500,
        }
    }
}

impl Vendor {
    /// Returns a tool call that prints hello, in the format of the vendor's program.
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
