//! A tool call that an agent wants to make.

use std::path::{Path, PathBuf};

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

    /// Returns the canonical name of a tool that its vendor renamed.
    ///
    /// ```
    /// use autonoe_core::ToolKind;
    ///
    /// assert_eq!(ToolKind::canonical_name("Agent"), "Task");
    /// assert_eq!(ToolKind::canonical_name("Bash"), "Bash");
    /// ```
    pub fn canonical_name(tool: &str) -> &str {
        match tool {
            "Agent" => "Task",
            "BashOutput" => "TaskOutput",
            "KillBash" | "KillShell" => "TaskStop",
            other => other,
        }
    }

    /// Returns what the call would touch, for people: the command, the files or the address.
    ///
    /// ```
    /// use autonoe_core::ToolKind;
    ///
    /// let fetch = ToolKind::Fetch { url: "https://example.com".to_owned() };
    ///
    /// assert_eq!(fetch.target().as_deref(), Some("https://example.com"));
    /// assert_eq!(ToolKind::Other.target(), None);
    /// ```
    pub fn target(&self) -> Option<String> {
        match self {
            Self::Shell { command } => Some(command.clone()),
            Self::Write { paths } | Self::Read { paths } => {
                let paths = paths.iter().map(|path| path.display().to_string());
                Some(paths.collect::<Vec<_>>().join(", "))
            }
            Self::Fetch { url } => Some(url.clone()),
            Self::Mcp { .. } | Self::Other | Self::Malformed { .. } => None,
        }
    }

    /// Returns the MCP server, or `None` when the name leaves a doubt about it.
    ///
    /// In `mcp__a__b__c` the server can be `a` or `a__b`, so what holds for all
    /// tools of `a` does not hold for it.
    pub(crate) fn certain_server(&self) -> Option<&str> {
        match self {
            Self::Mcp { server, tool } if !tool.contains("__") && !tool.starts_with('_') => {
                Some(server)
            }
            _ => None,
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
        let pattern = pattern.trim();
        if climbs_behind_a_wildcard(pattern) {
            return ToolKind::Malformed {
                reason: format!("{name} cannot have \"..\" behind a wildcard or in brackets"),
            };
        }
        let literal: PathBuf = Path::new(pattern)
            .components()
            .take_while(|part| !part.as_os_str().to_string_lossy().contains(WILDCARDS))
            .collect();
        if !literal.as_os_str().is_empty() {
            paths.push(base.join(literal));
        }
    }
    ToolKind::Read { paths }
}

/// What makes a Glob pattern more than a path.
const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '('];

/// Tells whether nobody can say where `pattern` leads: `*/../..`, `{..,a}/x`.
fn climbs_behind_a_wildcard(pattern: &str) -> bool {
    pattern
        .find(WILDCARDS)
        .is_some_and(|at| pattern[at..].contains(".."))
}

#[cfg(test)]
mod tests;
