//! [`ToolCall`], a tool call requested by an agent, and its [`ToolKind`].

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::time::{Mode, RunId, SessionKey};

/// A tool call that an agent requests, before it runs.
///
/// Backends create calls and hooks inspect them. Inspect [`kind`](Self::kind) rather than
/// [`name`](Self::name), because names differ between vendors.
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
    /// Matches the call with its response; unique within a session.
    pub id: String,
    /// Name of the tool, in the backend's spelling.
    pub name: String,
    /// Input of the call.
    pub input: Value,
    /// Session of the call.
    pub session: SessionKey,
    /// Sub-agent that requests the call; `None` for the main agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Base directory for relative paths of the call.
    pub cwd: PathBuf,
    /// Mode of the run.
    pub mode: Mode,
    /// Effect of the call, as classified by the backend.
    pub kind: ToolKind,
}

impl ToolCall {
    /// Creates a call with the kind that [`ToolKind::from_name`] returns. The builder methods set
    /// the other fields.
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

    /// Sets the base directory for relative paths.
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

    /// Sets the kind, for a backend with its own tool names.
    #[must_use]
    pub fn with_kind(mut self, kind: ToolKind) -> Self {
        self.kind = kind;
        self
    }
}

/// Effect of a tool call, independent of the vendor's name for the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolKind {
    /// Runs a shell command.
    Shell {
        /// Complete text passed to the shell.
        command: String,
    },
    /// Creates, changes or removes files.
    Write {
        /// All files that the call touches.
        paths: Vec<PathBuf>,
    },
    /// Reads or lists files.
    Read {
        /// All files or directories that the call reads.
        paths: Vec<PathBuf>,
    },
    /// Fetches from the network.
    Fetch {
        /// URL to fetch.
        url: String,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// MCP server.
        server: String,
        /// Tool of the server.
        tool: String,
    },
    /// Does something else. Denied unless granted by name.
    Other,
    /// A known tool with an input that cannot be parsed. Always denied.
    Malformed {
        /// Problem with the input.
        reason: String,
    },
}

impl ToolKind {
    /// Classifies a call by the tool names of the specification.
    ///
    /// These are `Bash`, `Write`, `Edit`, `MultiEdit`, `NotebookEdit`, `Read`, `Glob`, `Grep`,
    /// `LS`, `NotebookRead`, `WebFetch` and `mcp__server__tool`. A known tool without the field
    /// that names its target is [`Malformed`](Self::Malformed). Every other name is
    /// [`Other`](Self::Other).
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

    /// Returns the target of the call for humans: the command, the files or the URL.
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

    /// Returns the MCP server, or `None` if the name is ambiguous.
    ///
    /// In `mcp__a__b__c` the server can be `a` or `a__b`, so a rule for all tools of `a` does not
    /// apply to it.
    pub(crate) fn unambiguous_server(&self) -> Option<&str> {
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
            reason: format!("{name} needs the string field {field:?}"),
        },
    }
}

/// Classifies a search, which reads below `path` or below the directory of the call. A Glob pattern
/// can leave that directory (`../**`, `/etc/*`), so its literal prefix counts as a read path, too.
fn search(name: &str, input: &Value) -> ToolKind {
    let base = match input.get("path") {
        None | Some(Value::Null) => PathBuf::from("."),
        Some(Value::String(path)) => PathBuf::from(path),
        Some(_) => {
            return ToolKind::Malformed {
                reason: format!("{name} needs \"path\" to be a string"),
            };
        }
    };
    let mut paths = vec![base.clone()];
    if let ("Glob", Some(pattern)) = (name, input.get("pattern").and_then(Value::as_str)) {
        let pattern = pattern.trim();
        if has_parent_after_wildcard(pattern) {
            return ToolKind::Malformed {
                reason: format!("{name} does not accept \"..\" after a wildcard or in brackets"),
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

/// Characters that make a Glob pattern more than a plain path.
const WILDCARDS: [char; 5] = ['*', '?', '[', '{', '('];

/// Returns whether the target of `pattern` cannot be determined: `*/../..`, `{..,a}/x`.
fn has_parent_after_wildcard(pattern: &str) -> bool {
    pattern
        .find(WILDCARDS)
        .is_some_and(|at| pattern[at..].contains(".."))
}

#[cfg(test)]
mod tests;
