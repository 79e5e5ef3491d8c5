//! A call of a tool by a scripted agent.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A call of a tool by a scripted agent.
///
/// The host is asked first, as the real program asks it. What it refuses does not happen.
///
/// ```
/// use autonoe_testkit::fake_claude::{Effect, ToolUse};
/// use serde_json::json;
///
/// // Really runs in the directory of the session, if it is allowed.
/// let bash = ToolUse::bash("echo hello > hello.txt");
/// // Goes to the server `autonoe` of the host.
/// let ours = ToolUse::new("mcp__autonoe__list", json!({}));
/// // Does nothing, and has this result.
/// let told = ToolUse::bash("cargo test").with(Effect::Answers("ok. 12 passed".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The tool, by the name that the agent knows.
    pub name: String,
    /// What it is called with.
    pub input: Value,
    /// What comes of it, if it is allowed.
    #[serde(default)]
    pub effect: Effect,
}

/// What comes of a call that is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// It happens: `Bash` runs its command, `Write` writes its file, and a tool of an MCP
    /// server of the host is called there. Other tools fail.
    #[default]
    Happens,
    /// Nothing happens, and the agent is given this.
    Answers(String),
    /// Nothing happens, and the agent is given this as an error.
    Fails(String),
    /// Nothing happens but that a task with this id lives from now on, in the background.
    ///
    /// A turn [after the task](super::FakeTurn::after_task) says that it is over.
    StartsTask(String),
}

impl ToolUse {
    /// Makes a call.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            input,
            effect: Effect::default(),
        }
    }

    /// Makes a call of the shell.
    pub fn bash(command: impl Into<String>) -> Self {
        let command = command.into();
        Self::new(
            "Bash",
            json!({"command": command, "description": "scripted"}),
        )
    }

    /// Says what comes of it.
    #[must_use]
    pub fn with(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Returns the MCP server and the name of the tool there, if it is one of a server.
    pub(super) fn of_server(&self) -> Option<(&str, &str)> {
        self.name.strip_prefix("mcp__")?.split_once("__")
    }
}
