//! [`Source`] and [`ConfigLine`], the origin of each configuration value.

use std::fmt;
use std::path::PathBuf;

use super::{EffectiveConfig, SandboxSwitch, SwitchSource};
use crate::agent::Sandbox;
use crate::tool::McpServer;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The security baseline, which always applies.
    Baseline,
    /// A built-in default that a configuration can replace.
    BuiltIn,
    /// The configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The program that uses the library and created the configuration in code.
    Program,
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// The default, because the value is not set.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Baseline => f.write_str("baseline"),
            Self::BuiltIn => f.write_str("built-in"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Program => f.write_str("program"),
            Self::Flag => f.write_str("flag"),
            Self::Environment => f.write_str("environment"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl From<SwitchSource> for Source {
    fn from(source: SwitchSource) -> Self {
        match source {
            SwitchSource::Flag => Self::Flag,
            SwitchSource::Environment => Self::Environment,
            SwitchSource::Default => Self::Default,
        }
    }
}

/// One value of the effective configuration, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigLine {
    /// The setting, for example `mcpServers.playwright`.
    pub key: String,
    /// The value as text for people. Environments and headers are not shown.
    pub value: String,
    /// The source of the value.
    pub source: Source,
}

impl ConfigLine {
    pub(super) fn new(key: impl Into<String>, value: impl Into<String>, source: Source) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            source,
        }
    }
}

impl fmt::Display for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.explain();
        let widest = |column: fn(&ConfigLine) -> &str| {
            let widths = lines.iter().map(|line| column(line).chars().count());
            widths.max().unwrap_or(0)
        };
        let keys = widest(|line| &line.key);
        let values = widest(|line| &line.value);
        for ConfigLine { key, value, source } in lines {
            writeln!(f, "{key:keys$}  {value:values$}  {source}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for EffectiveConfig {
    // The lines contain every value and no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EffectiveConfig")
            .field("mode", &self.mode())
            .field("lines", &self.explain())
            .finish_non_exhaustive()
    }
}

pub(super) fn format_sandbox(switch: SandboxSwitch) -> &'static str {
    match switch.sandbox() {
        Sandbox::Required => "required",
        Sandbox::Off => "off",
    }
}

/// Formats a server without its secrets: environment, headers, and the query and the user of a URL.
pub(super) fn format_server(server: &McpServer) -> String {
    match server {
        McpServer::Stdio { command, args, .. } => {
            let words: Vec<&str> = std::iter::once(command)
                .chain(args)
                .map(String::as_str)
                .collect();
            words.join(" ")
        }
        McpServer::Remote { url, .. } => {
            let address = url.split(['?', '#']).next().unwrap_or_default();
            match (address.split_once("://"), address.rsplit_once('@')) {
                (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
                _ => address.to_owned(),
            }
        }
    }
}
