//! The start of a turn.

use std::borrow::Cow;

use serde::Deserialize;

use super::lenient::{field, list, shape_of_object};

/// The start of a turn, with what the program was started as. It comes once per turn.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Init<'a> {
    /// The conversation.
    #[serde(borrow, deserialize_with = "field")]
    pub session_id: Option<Cow<'a, str>>,
    /// The directory that it works in.
    #[serde(borrow, deserialize_with = "field")]
    pub cwd: Option<Cow<'a, str>>,
    /// The model.
    #[serde(borrow, deserialize_with = "field")]
    pub model: Option<Cow<'a, str>>,
    /// The permission mode that is in force.
    #[serde(borrow, rename = "permissionMode", deserialize_with = "field")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// Where the key for the model comes from.
    #[serde(borrow, rename = "apiKeySource", deserialize_with = "field")]
    pub api_key_source: Option<Cow<'a, str>>,
    /// The version of the program.
    #[serde(borrow, deserialize_with = "field")]
    pub claude_code_version: Option<Cow<'a, str>>,
    /// The tools that the agent has. The tool `Agent` is called `Task` here.
    #[serde(borrow, deserialize_with = "list")]
    pub tools: Vec<Cow<'a, str>>,
    /// The MCP servers that it was told of.
    #[serde(borrow, deserialize_with = "list")]
    pub mcp_servers: Vec<McpServerState<'a>>,
}

/// An MCP server and how it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct McpServerState<'a> {
    /// Its name.
    #[serde(borrow, deserialize_with = "field")]
    pub name: Option<Cow<'a, str>>,
    /// How it is, for example `connected`.
    #[serde(borrow, deserialize_with = "field")]
    pub status: Option<Cow<'a, str>>,
}

shape_of_object!(McpServerState<'de>);
