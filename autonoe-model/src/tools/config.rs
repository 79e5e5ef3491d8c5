//! [`ToolsConfig`]: settings of the built-in tools in a configuration file, with their [`ToolLimits`].

use std::collections::BTreeSet;
use std::time::Duration;

use autonoe_core::time::millis;
use autonoe_process::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the built-in tools in a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ToolsConfig {
    /// Network access of commands in the sandbox.
    pub network: NetworkAccess,
    /// Names of additional environment variables for commands.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub variables: BTreeSet<String>,
    /// Limits of the tools.
    pub limits: ToolLimits,
}

/// Network access of commands in the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NetworkAccess {
    /// No network, not even loopback.
    #[default]
    Off,
    /// Network of this machine, including its own servers.
    Shared,
}

impl From<NetworkAccess> for Network {
    fn from(access: NetworkAccess) -> Self {
        match access {
            NetworkAccess::Off => Self::Off,
            NetworkAccess::Shared => Self::Shared,
        }
    }
}

/// Limits of the built-in tools.
///
/// Larger outputs are cut with a note, and larger inputs are rejected. Configuration files use
/// milliseconds for times: `{"commandTimeMs": 300000}`.
///
/// ```
/// use autonoe_model::tools::ToolLimits;
///
/// let limits = ToolLimits { output_bytes: 8_000, ..ToolLimits::default() };
///
/// assert_eq!(limits.read_lines, 2_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolLimits {
    /// Maximum output of Bash, Glob and Grep, in bytes.
    pub output_bytes: usize,
    /// Maximum output of Read, in bytes.
    pub read_bytes: usize,
    /// Default number of lines that Read returns.
    pub read_lines: u64,
    /// Maximum length of a line in the output of Read and Grep, in bytes.
    pub line_bytes: usize,
    /// Maximum size of an image that Read attaches, in bytes.
    pub image_bytes: u64,
    /// Maximum size of a file that Edit changes or Write writes, in bytes.
    pub file_bytes: u64,
    /// Maximum number of files that Glob and Grep list, and default number of lines of Grep.
    pub results: usize,
    /// Maximum number of files and directories that a search visits.
    pub entries: usize,
    /// Maximum time of a search, and of Read until it reaches the requested lines.
    #[serde(rename = "searchTimeMs", with = "millis")]
    #[schemars(with = "u64", range(min = 1))]
    pub search_time: Duration,
    /// Default time limit of a command.
    #[serde(rename = "commandTimeMs", with = "millis")]
    #[schemars(with = "u64", range(min = 1))]
    pub command_time: Duration,
    /// Maximum time limit that a command may request.
    #[serde(rename = "longestCommandTimeMs", with = "millis")]
    #[schemars(with = "u64", range(min = 1))]
    pub longest_command_time: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            output_bytes: 30_000,
            read_bytes: 100_000,
            read_lines: 2_000,
            line_bytes: 2_000,
            image_bytes: 5 * 1024 * 1024,
            file_bytes: 16 * 1024 * 1024,
            results: 100,
            entries: 500_000,
            search_time: Duration::from_secs(30),
            command_time: Duration::from_secs(120),
            longest_command_time: Duration::from_secs(600),
        }
    }
}

impl ToolLimits {
    /// Returns whether the time limits are positive and consistent.
    pub(crate) fn has_valid_times(&self) -> bool {
        let times = [
            self.search_time,
            self.command_time,
            self.longest_command_time,
        ];
        times.iter().all(|time| !time.is_zero()) && self.command_time <= self.longest_command_time
    }
}
