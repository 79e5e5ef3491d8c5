//! Where the values of a configuration come from.

use std::fmt;
use std::path::PathBuf;

use super::{EffectiveConfig, SandboxSwitch, SwitchSource};
use crate::port::{HookSpec, McpServer, Sandbox};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The security baseline, which is always there.
    Baseline,
    /// Something that Autonoe brings along and a configuration can replace.
    BuiltIn,
    /// The configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The program that runs the library, which made the configuration in code.
    Program,
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// Nobody said anything.
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

/// One value of the effective configuration, with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigLine {
    /// The setting, for example `mcpServers.playwright`.
    pub key: String,
    /// The value as a person reads it. Environments and headers are not shown.
    pub value: String,
    /// Where it comes from.
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
    // The lines hold every value and no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EffectiveConfig")
            .field("mode", &self.mode())
            .field("lines", &self.explain())
            .finish_non_exhaustive()
    }
}

pub(super) fn shown_sandbox(switch: SandboxSwitch) -> &'static str {
    match switch.sandbox() {
        Sandbox::Required => "required",
        Sandbox::Off => "off",
    }
}

/// Shows a server without what may be secret: environment, headers, and the query and the
/// user of an address.
pub(super) fn shown_server(server: &McpServer) -> String {
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

/// Returns the tag of a hook.
pub(super) fn tag_of(hook: &dyn HookSpec) -> String {
    hook.typetag_name().to_owned()
}
