//! [`McpOptions`]: options of MCP servers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::transport::{SecretSet, Trust};

/// Start options of a session's MCP servers, and limits of their tools.
///
/// ```
/// use autonoe_model::mcp::McpOptions;
///
/// let mut options = McpOptions::default();
/// options.env.insert("HOME".into(), "/home/ada".into());
///
/// assert!(options.env.contains_key(std::ffi::OsStr::new("PATH")));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpOptions {
    /// Environment of all servers. The environments of the session and of the server override it.
    /// Servers inherit nothing else from this program, so they get no keys unless explicitly set.
    /// Many need `HOME`.
    pub env: BTreeMap<OsString, OsString>,
    /// Directory for the folders that identify leftover processes if this program is killed. Later
    /// sessions find and end these processes.
    pub temporary: PathBuf,
    /// Maximum time until a server has listed its tools.
    pub start_time: Duration,
    /// Maximum time of a call.
    pub call_time: Duration,
    /// Maximum length of a call's text output in bytes. The middle of a longer output is removed.
    pub output_bytes: usize,
    /// Maximum size of all attachments of one result, in bytes.
    pub attachment_bytes: usize,
    /// Maximum size of one message of a server, in bytes. A larger message closes the connection.
    pub message_bytes: usize,
    /// Trusted certificate authorities for encrypted connections. The system's authorities are
    /// looked up by [`env`](Self::env) first.
    pub trust: Trust,
    /// Values that no server may see: a variable that contains one is withheld, including those of
    /// sessions. Variables in the configuration of a single server are kept, because they are
    /// intended.
    pub secrets: SecretSet,
}

impl McpOptions {
    /// Default `PATH` of servers.
    pub const PATH: &'static str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /// Removes variables that contain a secret.
    pub(crate) fn withhold_secrets(&mut self) {
        self.env.retain(|_, value| !self.secrets.occur_in(value));
    }
}

impl Default for McpOptions {
    fn default() -> Self {
        let env = [("PATH", Self::PATH), ("LANG", "C.UTF-8")];
        Self {
            env: env.map(|(name, value)| (name.into(), value.into())).into(),
            temporary: "/tmp".into(),
            start_time: Duration::from_secs(60),
            call_time: Duration::from_secs(300),
            output_bytes: 100_000,
            attachment_bytes: 5 * 1024 * 1024,
            message_bytes: 16 * 1024 * 1024,
            trust: Trust::default(),
            secrets: SecretSet::default(),
        }
    }
}

impl fmt::Debug for McpOptions {
    // Values of variables may be secrets and are not printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOptions")
            .field("variables", &self.env.keys())
            .field("start_time", &self.start_time)
            .field("call_time", &self.call_time)
            .field("output_bytes", &self.output_bytes)
            .finish_non_exhaustive()
    }
}
