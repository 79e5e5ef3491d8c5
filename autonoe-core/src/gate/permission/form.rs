//! [`Form`], the parsed form of a permission rule.

use std::path::Path;

use super::command_pattern::CommandPattern;
use super::path_pattern::PathPattern;
use super::url_pattern::UrlPattern;
use crate::gate::ProjectPaths;
use crate::tool::{ToolCall, ToolKind};

/// Parsed form of a permission rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Reading, by any tool or by the named one.
    Read {
        tool: Option<&'static str>,
        paths: PathPattern,
    },
    /// Writing, by any tool.
    Write(PathPattern),
    /// Running shell commands.
    Shell(CommandPattern),
    /// Fetching from the network.
    Fetch(UrlPattern),
    /// A tool of an MCP server, or all of its tools.
    Mcp {
        server: String,
        tool: Option<String>,
    },
    /// A tool by its name, whatever it does.
    Tool(String),
}

impl Form {
    /// Parses `text`. The error describes the problem.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("it is empty");
        }
        if text.trim() != text || text.contains(char::is_control) {
            return Err("it has surrounding whitespace or control characters");
        }
        match text.split_once('(') {
            Some((name, rest)) => Self::with_pattern(name, rest),
            None if text.contains(')') => Err("a closing parenthesis has no opening one"),
            None => match text.strip_prefix("mcp__") {
                Some(rest) => Self::mcp(rest),
                None => Self::tool(text),
            },
        }
    }

    fn with_pattern(name: &str, rest: &str) -> Result<Self, &'static str> {
        let pattern = rest
            .strip_suffix(')')
            .ok_or("it must end with a closing parenthesis")?;
        if !is_balanced(pattern) {
            return Err("the parentheses do not match");
        }
        if pattern.is_empty() || pattern.trim() != pattern {
            return Err("the pattern is empty or has surrounding whitespace");
        }
        match name {
            "Read" => Ok(Self::Read {
                tool: None,
                paths: PathPattern::parse(pattern)?,
            }),
            "Glob" => Ok(Self::Read {
                tool: Some("Glob"),
                paths: PathPattern::parse(pattern)?,
            }),
            "Grep" => Ok(Self::Read {
                tool: Some("Grep"),
                paths: PathPattern::parse(pattern)?,
            }),
            "Write" | "Edit" => PathPattern::parse(pattern).map(Self::Write),
            "Bash" => CommandPattern::parse(pattern).map(Self::Shell),
            "WebFetch" => UrlPattern::parse(pattern).map(Self::Fetch),
            _ => Err("only Read, Write, Edit, Glob, Grep, Bash and WebFetch take a pattern"),
        }
    }

    fn mcp(rest: &str) -> Result<Self, &'static str> {
        let (server, tool) = match rest.split_once("__") {
            None => (rest, None),
            Some((server, "*")) => (server, None),
            Some((server, tool)) => (server, Some(tool)),
        };
        if !is_name(server) || tool.is_some_and(|tool| !is_name(tool)) {
            return Err(
                "an MCP rule has the form mcp__server, mcp__server__* or mcp__server__tool",
            );
        }
        Ok(Self::Mcp {
            server: server.to_owned(),
            tool: tool.map(str::to_owned),
        })
    }

    fn tool(name: &str) -> Result<Self, &'static str> {
        if is_name(name) && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            Ok(Self::Tool(name.to_owned()))
        } else {
            Err("the name of a tool has only letters, digits and the characters _ - . :")
        }
    }

    /// Returns whether the form covers `call`, ignoring the paths of the call.
    pub(super) fn covers(&self, call: &ToolCall) -> bool {
        match (self, &call.kind) {
            (_, ToolKind::Malformed { .. }) => false,
            (Self::Tool(name), _) => {
                ToolKind::canonical_name(name) == ToolKind::canonical_name(&call.name)
            }
            (Self::Read { tool, .. }, ToolKind::Read { .. }) => {
                tool.is_none_or(|tool| tool == call.name)
            }
            (Self::Write(_), ToolKind::Write { .. }) => true,
            (Self::Shell(pattern), ToolKind::Shell { command }) => pattern.covers(command),
            (Self::Fetch(pattern), ToolKind::Fetch { url }) => pattern.covers(url),
            (Self::Mcp { server, tool: None }, kind) => {
                kind.unambiguous_server() == Some(server.as_str())
            }
            (
                Self::Mcp {
                    server,
                    tool: Some(tool),
                },
                ToolKind::Mcp {
                    server: called_server,
                    tool: called_tool,
                },
            ) => server == called_server && tool == called_tool,
            _ => false,
        }
    }

    /// Returns whether the form may apply to `call`, ignoring the paths of the call. Used for
    /// blocking.
    pub(super) fn touches(&self, call: &ToolCall) -> bool {
        match (self, &call.kind) {
            (_, ToolKind::Malformed { .. }) => true,
            (Self::Shell(pattern), ToolKind::Shell { command }) => pattern.touches(command),
            (Self::Fetch(pattern), ToolKind::Fetch { url }) => pattern.touches(url),
            (
                Self::Mcp { server, tool },
                ToolKind::Mcp {
                    server: called_server,
                    tool: called_tool,
                },
            ) => {
                // In `mcp__a__b__c`, the end of the server's name is ambiguous.
                let own = tool
                    .iter()
                    .fold(server.clone(), |own, tool| own + "__" + tool);
                format!("{called_server}__{called_tool}__").starts_with(&(own + "__"))
            }
            _ => self.covers(call),
        }
    }

    /// Returns the path pattern, if the form has one.
    pub(super) fn paths(&self) -> Option<&PathPattern> {
        match self {
            Self::Read { paths, .. } | Self::Write(paths) => Some(paths),
            Self::Shell(_) | Self::Fetch(_) | Self::Mcp { .. } | Self::Tool(_) => None,
        }
    }

    /// Returns whether the form covers `path`, which must be absolute and normalised; `None` is a
    /// path with an unknown location.
    pub(super) fn covers_path(&self, path: Option<&Path>, project_paths: &ProjectPaths) -> bool {
        match self {
            Self::Tool(_) => true,
            Self::Read { paths, .. } | Self::Write(paths) => {
                path.is_some_and(|path| paths.covers(path, project_paths))
            }
            Self::Shell(_) | Self::Fetch(_) | Self::Mcp { .. } => false,
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
}

fn is_balanced(text: &str) -> bool {
    let depth = text.chars().try_fold(0_usize, |depth, c| match c {
        '(' => Some(depth + 1),
        ')' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}
