//! How MCP servers are started and called.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use autonoe_core::{AgentError, McpServer};

use super::launch::{check_program, check_server};
use crate::known_secrets::KnownSecrets;
use crate::transport::Trust;

/// How the MCP servers of a session are started, and how much their tools take and give.
///
/// ```
/// use autonoe_model::McpOptions;
///
/// let mut options = McpOptions::default();
/// options.env.insert("HOME".into(), "/home/ada".into());
///
/// assert!(options.env.contains_key(std::ffi::OsStr::new("PATH")));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpOptions {
    /// The environment of all servers, before that of the session and that of the server. They
    /// get nothing else of this program's: no keys, then, unless somebody sets them. Many want
    /// a `HOME`.
    pub env: BTreeMap<OsString, OsString>,
    /// Where folders are made that tell what was left when this program was killed. Sessions
    /// that come later find it there, and end it.
    pub temporary: PathBuf,
    /// How long a server may take until it has listed its tools.
    pub start_time: Duration,
    /// How long a call may take.
    pub call_time: Duration,
    /// How many bytes of text a call gives back at most; of more, the middle is left out.
    pub output_bytes: usize,
    /// How many bytes the files of one result may have together.
    pub attachment_bytes: usize,
    /// How many bytes one message of a server may have. One that sends more is not talked to
    /// any longer.
    pub message_bytes: usize,
    /// Whom encrypted connections to servers trust. Where the system has its authorities is
    /// looked up in [`env`](Self::env) first.
    pub trust: Trust,
    /// What no server gets to see.
    pub(super) secrets: KnownSecrets,
}

impl McpOptions {
    /// Where programs are found, unless the environment says otherwise.
    pub const PATH: &'static str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /// Keeps every variable that holds `secret` from servers, also those of sessions. What is
    /// configured for one server by itself stays: somebody wanted it to have that.
    pub fn secret(&mut self, secret: impl Into<OsString>) {
        self.secrets.add(secret);
    }

    /// Leaves variables out that hold a secret.
    pub(crate) fn withhold_secrets(&mut self) {
        self.env.retain(|_, value| !self.secrets.are_in(value));
    }

    /// Looks whether a server could be started or reached, without doing so.
    ///
    /// ```
    /// use autonoe_core::McpServer;
    /// use autonoe_model::McpOptions;
    ///
    /// let server: McpServer = serde_json::from_str(r#"{"command": "no-such-program"}"#)?;
    ///
    /// let error = McpOptions::default().check("web", &server).expect_err("it is not there");
    /// assert!(error.to_string().contains("there is no program \"no-such-program\""));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// It has a name that its tools could not be told by, its program is not there, or it cannot
    /// be reached by an agent in this process.
    pub fn check(&self, name: &str, server: &McpServer) -> Result<(), AgentError> {
        check_server(name, server)?;
        check_program(name, server, self)
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
            secrets: KnownSecrets::default(),
        }
    }
}

impl fmt::Debug for McpOptions {
    // Values of variables may be secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOptions")
            .field("variables", &self.env.keys())
            .field("start_time", &self.start_time)
            .field("call_time", &self.call_time)
            .field("output_bytes", &self.output_bytes)
            .finish_non_exhaustive()
    }
}
