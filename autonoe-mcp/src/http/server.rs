//! The server itself.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use autonoe_core::{
    McpServer, RemoteTransport, ServedTools, SessionKey, ToolServer, ToolServerError, Toolbox,
};
use tokio::sync::Mutex;

use super::HttpLimits;
use super::listener::Listener;
use super::sessions::Registration;
use crate::stdio::TOKEN_VARIABLE;
use crate::token::Token;

/// Serves toolboxes over MCP on the loopback address: streamable HTTP, one port for all sessions.
///
/// Each session has an address and a secret of its own, which only the [`McpServer`] names that
/// [`serve`](ToolServer::serve) returns. Whoever does not have the secret is refused before
/// anything else of a request is read; so is a browser that was led here by another site. When the
/// [`ServedTools`] of a session are dropped, its calls are cancelled and its secret is worth
/// nothing; with the last session the port is closed.
///
/// Where an agent has no way to set headers, or knows servers by commands only, say
/// [`by_command`](Self::by_command); where it depends on the agent,
/// [`or_by_command`](Self::or_by_command).
///
/// ```
/// use autonoe_core::{McpServer, RunId, SessionKey, ToolServer, Toolbox};
/// use autonoe_mcp::HttpToolServer;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = HttpToolServer::new();
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
///
/// let served = server.serve(&session, Toolbox::new([])).await?;
///
/// let McpServer::Remote { url, headers, .. } = &served.server else { panic!("by address") };
/// assert!(url.starts_with("http://127.0.0.1:"));
/// assert!(headers["Authorization"].starts_with("Bearer "));
/// # Ok::<(), autonoe_core::ToolServerError>(())
/// # }).unwrap();
/// ```
pub struct HttpToolServer {
    limits: HttpLimits,
    /// The command that hands on, if servers are named by it.
    program: Option<PathBuf>,
    has_address: HasAddress,
    /// The port that is open, as long as there is a session.
    listener: Mutex<Weak<Listener>>,
}

/// Whether agents are told the address of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HasAddress {
    Yes,
    No,
}

impl HttpToolServer {
    /// Makes a server. The port is opened with the first session.
    pub fn new() -> Self {
        Self::with_limits(HttpLimits::default())
    }

    /// Makes a server that takes so much.
    pub fn with_limits(limits: HttpLimits) -> Self {
        Self {
            limits,
            program: None,
            has_address: HasAddress::Yes,
            listener: Mutex::new(Weak::new()),
        }
    }

    /// Names servers by a command: `program`, the path of `autonoe`, which hands on what is said
    /// (see [`bridge_stdio`](crate::bridge_stdio)). The secret is in its environment.
    ///
    /// ```
    /// use autonoe_core::{McpServer, RunId, SessionKey, ToolServer, Toolbox};
    /// use autonoe_mcp::HttpToolServer;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let server = HttpToolServer::new().by_command("/usr/bin/autonoe");
    /// let session = SessionKey { run: RunId::new("run"), number: 1 };
    ///
    /// let served = server.serve(&session, Toolbox::new([])).await?;
    ///
    /// let McpServer::Stdio { args, .. } = &served.server else { panic!("by command") };
    /// assert_eq!(args[..2], ["mcp", "--url"]);
    /// # Ok::<(), autonoe_core::ToolServerError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn by_command(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self.has_address = HasAddress::No;
        self
    }

    /// Names servers by their address, and for agents that know commands only by a command too:
    /// `program`, as [`by_command`](Self::by_command) does.
    ///
    /// ```
    /// use autonoe_core::{McpServer, RunId, SessionKey, ToolServer, Toolbox};
    /// use autonoe_mcp::HttpToolServer;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let server = HttpToolServer::new().or_by_command("/usr/bin/autonoe");
    /// let session = SessionKey { run: RunId::new("run"), number: 1 };
    ///
    /// let served = server.serve(&session, Toolbox::new([])).await?;
    ///
    /// assert!(matches!(served.server, McpServer::Remote { .. }));
    /// assert!(matches!(served.command, Some(McpServer::Stdio { .. })));
    /// # Ok::<(), autonoe_core::ToolServerError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn or_by_command(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self.has_address = HasAddress::Yes;
        self
    }

    /// Returns the open port, or opens one.
    async fn listener(&self) -> Result<Arc<Listener>, ToolServerError> {
        let mut known = self.listener.lock().await;
        // One whose runtime is gone listens no more.
        if let Some(listener) = known.upgrade().filter(|open| open.is_open()) {
            return Ok(listener);
        }
        let opened = Listener::open(self.limits.clone()).await;
        let opened = opened.map_err(|error| {
            ToolServerError::new("no port of this machine can be opened").because(error)
        })?;
        let opened = Arc::new(opened);
        *known = Arc::downgrade(&opened);
        Ok(opened)
    }
}

fn address(url: String, token: &Token) -> McpServer {
    let header = format!("Bearer {}", token.reveal());
    McpServer::Remote {
        transport: RemoteTransport::Http,
        url,
        headers: [("Authorization".to_owned(), header)].into(),
    }
}

fn command_of(program: &Path, url: String, token: &Token) -> Result<McpServer, ToolServerError> {
    let command = program
        .to_str()
        .ok_or_else(|| ToolServerError::new("the path of the command that hands on is no text"))?;
    Ok(McpServer::Stdio {
        command: command.to_owned(),
        args: vec!["mcp".to_owned(), "--url".to_owned(), url],
        env: [(TOKEN_VARIABLE.to_owned(), token.reveal().to_owned())].into(),
        transport: None,
    })
}

#[async_trait]
impl ToolServer for HttpToolServer {
    async fn serve(
        &self,
        session: &SessionKey,
        tools: Toolbox,
    ) -> Result<ServedTools, ToolServerError> {
        let token = Token::random()?;
        let listener = self.listener().await?;
        let registration = Registration::new(listener, session.clone(), tools, token.clone());
        let url = registration.url();
        let command = self.program.as_deref();
        let command = command.map(|program| command_of(program, url.clone(), &token));
        let visited = registration.visited();
        let served = match (self.has_address, command.transpose()?) {
            (HasAddress::No, Some(command)) => ServedTools::new(command, registration),
            (HasAddress::Yes, Some(command)) => {
                ServedTools::new(address(url, &token), registration).with_command(command)
            }
            (_, None) => ServedTools::new(address(url, &token), registration),
        };
        Ok(served.with_visits(visited))
    }
}

impl Default for HttpToolServer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HttpToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpToolServer")
            .field("limits", &self.limits)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}
