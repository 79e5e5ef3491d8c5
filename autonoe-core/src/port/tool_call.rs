//! A tool call that an agent wants to make.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{Mode, RunId, SessionKey};

/// A tool call that an agent wants to make, before it happens.
///
/// Backends make them; hooks look at them. Look at [`kind`](Self::kind) rather
/// than at [`name`](Self::name): names differ between vendors.
///
/// ```
/// use autonoe_core::{ToolCall, ToolKind};
/// use serde_json::json;
///
/// let call = ToolCall::new("Bash", json!({"command": "ls"})).in_dir("/srv/project");
///
/// assert_eq!(call.kind, ToolKind::Shell { command: "ls".into() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCall {
    /// Pairs the call with its response; unique within a session.
    pub id: String,
    /// The tool, in the backend's spelling.
    pub name: String,
    /// What it is called with.
    pub input: Value,
    /// The session that it belongs to.
    pub session: SessionKey,
    /// The sub-agent that wants it; `None` for the main agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that relative paths of the call start from.
    pub cwd: PathBuf,
    /// The mode of the run.
    pub mode: Mode,
    /// What the call would do, filled by the backend.
    pub kind: ToolKind,
}

impl ToolCall {
    /// Makes a call with the kind that [`ToolKind::from_name`] finds; the rest is set by `with_*`.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        let name = name.into();
        Self {
            id: "call".to_owned(),
            kind: ToolKind::from_name(&name, &input),
            name,
            input,
            session: SessionKey {
                run: RunId::new("run"),
                number: 1,
            },
            agent: None,
            cwd: PathBuf::from("/"),
            mode: Mode::Run,
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the session.
    #[must_use]
    pub fn in_session(mut self, session: SessionKey) -> Self {
        self.session = session;
        self
    }

    /// Sets the sub-agent.
    #[must_use]
    pub fn by_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Sets the directory that relative paths start from.
    #[must_use]
    pub fn in_dir(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Sets the mode of the run.
    #[must_use]
    pub fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the kind, for a backend whose tool names are its own.
    #[must_use]
    pub fn with_kind(mut self, kind: ToolKind) -> Self {
        self.kind = kind;
        self
    }
}

/// What a tool call would do, whatever the vendor calls the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolKind {
    /// Runs a shell command.
    Shell {
        /// The whole text handed to the shell.
        command: String,
    },
    /// Creates, changes or removes files.
    Write {
        /// All files that it touches.
        paths: Vec<PathBuf>,
    },
    /// Reads or lists files.
    Read {
        /// All files or directories that it looks at.
        paths: Vec<PathBuf>,
    },
    /// Fetches from the network.
    Fetch {
        /// The address.
        url: String,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// Does something else; denied unless granted by name.
    Other,
    /// Is a known tool with an input that cannot be understood; always denied.
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
}

impl ToolKind {
    /// Classifies a call by the tool names that the specification uses.
    ///
    /// They are `Bash`, `Write`, `Edit`, `MultiEdit`, `NotebookEdit`, `Read`,
    /// `Glob`, `Grep`, `LS`, `NotebookRead`, `WebFetch` and `mcp__server__tool`.
    /// A known tool without the field that says what it would touch is
    /// [`Malformed`](Self::Malformed); every other name is [`Other`](Self::Other).
    pub fn from_name(name: &str, input: &Value) -> Self {
        match name {
            "Bash" => with_text(name, input, "command", |command| Self::Shell { command }),
            "Write" | "Edit" | "MultiEdit" => {
                with_text(name, input, "file_path", |path| Self::Write {
                    paths: vec![path.into()],
                })
            }
            "NotebookEdit" => with_text(name, input, "notebook_path", |path| Self::Write {
                paths: vec![path.into()],
            }),
            "Read" => with_text(name, input, "file_path", |path| Self::Read {
                paths: vec![path.into()],
            }),
            "NotebookRead" => with_text(name, input, "notebook_path", |path| Self::Read {
                paths: vec![path.into()],
            }),
            "Glob" | "Grep" | "LS" => search(name, input),
            "WebFetch" => with_text(name, input, "url", |url| Self::Fetch { url }),
            _ => match name
                .strip_prefix("mcp__")
                .and_then(|rest| rest.split_once("__"))
            {
                Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Self::Mcp {
                    server: server.to_owned(),
                    tool: tool.to_owned(),
                },
                _ => Self::Other,
            },
        }
    }
}

fn with_text(
    name: &str,
    input: &Value,
    field: &str,
    kind: impl FnOnce(String) -> ToolKind,
) -> ToolKind {
    match input.get(field).and_then(Value::as_str) {
        Some(text) => kind(text.to_owned()),
        None => ToolKind::Malformed {
            reason: format!("{name} needs the text field {field:?}"),
        },
    }
}

/// Searches look below `path`, or below the directory of the call; a Glob
/// pattern can leave it (`../**`, `/etc/*`), so it counts as a place too.
fn search(name: &str, input: &Value) -> ToolKind {
    let base = match input.get("path") {
        None | Some(Value::Null) => PathBuf::from("."),
        Some(Value::String(path)) => PathBuf::from(path),
        Some(_) => {
            return ToolKind::Malformed {
                reason: format!("{name} needs \"path\" to be a text"),
            };
        }
    };
    let mut paths = vec![base.clone()];
    if let ("Glob", Some(pattern)) = (name, input.get("pattern").and_then(Value::as_str)) {
        let literal: PathBuf = std::path::Path::new(pattern)
            .components()
            .take_while(|part| {
                !part
                    .as_os_str()
                    .to_string_lossy()
                    .contains(['*', '?', '[', '{'])
            })
            .collect();
        if !literal.as_os_str().is_empty() {
            paths.push(base.join(literal));
        }
    }
    ToolKind::Read { paths }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_names_of_the_specification_are_classified() {
        let write = |path: &str| ToolKind::Write {
            paths: vec![path.into()],
        };
        let read = |path: &str| ToolKind::Read {
            paths: vec![path.into()],
        };
        for (name, input, kind) in [
            (
                "Bash",
                json!({"command": "ls"}),
                ToolKind::Shell {
                    command: "ls".into(),
                },
            ),
            ("Write", json!({"file_path": "a"}), write("a")),
            ("Edit", json!({"file_path": "a"}), write("a")),
            ("MultiEdit", json!({"file_path": "a"}), write("a")),
            ("NotebookEdit", json!({"notebook_path": "a"}), write("a")),
            ("Read", json!({"file_path": "a"}), read("a")),
            ("Grep", json!({"pattern": "x"}), read(".")),
            (
                "Glob",
                json!({"pattern": "*.rs", "path": "src"}),
                read("src"),
            ),
            (
                "Glob",
                json!({"pattern": "../up/*.rs"}),
                ToolKind::Read {
                    paths: vec![".".into(), "./../up".into()],
                },
            ),
            (
                "WebFetch",
                json!({"url": "http://x"}),
                ToolKind::Fetch {
                    url: "http://x".into(),
                },
            ),
            (
                "mcp__autonoe__create",
                json!({}),
                ToolKind::Mcp {
                    server: "autonoe".into(),
                    tool: "create".into(),
                },
            ),
            ("Task", json!({}), ToolKind::Other),
            ("mcp__", json!({}), ToolKind::Other),
        ] {
            assert_eq!(ToolKind::from_name(name, &input), kind, "{name} {input}");
        }
    }

    #[test]
    fn a_known_tool_with_a_strange_input_is_malformed_and_never_other() {
        for (name, input) in [
            ("Bash", json!({"cmd": "rm -rf /"})),
            ("Bash", json!({"command": ["rm"]})),
            ("Write", json!({})),
            ("Edit", json!(null)),
            ("Glob", json!({"path": 3})),
            ("WebFetch", json!({"url": null})),
        ] {
            let kind = ToolKind::from_name(name, &input);

            assert!(
                matches!(kind, ToolKind::Malformed { .. }),
                "{name} {input}: {kind:?}"
            );
        }
    }
}
