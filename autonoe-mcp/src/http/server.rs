//! [`HttpToolServer`]: serves the toolboxes of sessions over HTTP.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{
    McpServer, RemoteTransport, ServedTools, ToolServer, ToolServerError, Toolbox,
};
use tokio::sync::Mutex;

use super::limits::HttpLimits;
use super::listener::{Listener, Registration};
use crate::stdio::TOKEN_VARIABLE;
use crate::token::Token;

/// Serves toolboxes over MCP on the loopback address: streamable HTTP, one port for all sessions.
///
/// Each session has its own URL and its own secret. Only the [`McpServer`] that
/// [`serve`](ToolServer::serve) returns contains the secret. A request without the secret is
/// refused before its body is read, and so is a request from a page of another site. Dropping the
/// [`ServedTools`] of a session cancels its calls and revokes its secret. The port closes with the
/// last session.
///
/// Use [`by_command`](Self::by_command) for agents that cannot set headers or that know MCP servers
/// by command only. Use [`or_by_command`](Self::or_by_command) if this depends on the agent.
///
/// ```
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::{McpServer, ToolServer, Toolbox};
/// use autonoe_core::RunId;
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
/// # Ok::<(), autonoe_core::tool::ToolServerError>(())
/// # }).unwrap();
/// ```
pub struct HttpToolServer {
    limits: HttpLimits,
    /// Program of the stdio bridge, if servers are described as commands.
    program: Option<PathBuf>,
    has_address: HasAddress,
    /// Open port, while at least one session is served.
    listener: Mutex<Weak<Listener>>,
}

/// Whether agents get the URL of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HasAddress {
    Yes,
    No,
}

impl HttpToolServer {
    /// Creates a server. The first session opens the port.
    pub fn new() -> Self {
        Self::with_limits(HttpLimits::default())
    }

    /// Creates a server with the given limits.
    pub fn with_limits(limits: HttpLimits) -> Self {
        Self {
            limits,
            program: None,
            has_address: HasAddress::Yes,
            listener: Mutex::new(Weak::new()),
        }
    }

    /// Describes servers as a command. `program` is the path of `autonoe`, which forwards messages
    /// to this server (see [`bridge_stdio`](crate::bridge_stdio)). The command's environment
    /// contains the secret.
    ///
    /// ```
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::tool::{McpServer, ToolServer, Toolbox};
    /// use autonoe_core::RunId;
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
    /// # Ok::<(), autonoe_core::tool::ToolServerError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn by_command(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self.has_address = HasAddress::No;
        self
    }

    /// Describes servers by URL, and additionally as a command for agents that know commands only.
    /// `program` is the same as for [`by_command`](Self::by_command).
    ///
    /// ```
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::tool::{McpServer, ToolServer, Toolbox};
    /// use autonoe_core::RunId;
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
    /// # Ok::<(), autonoe_core::tool::ToolServerError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn or_by_command(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self.has_address = HasAddress::Yes;
        self
    }

    /// Returns the open listener, or opens a new one.
    async fn listener(&self) -> Result<Arc<Listener>, ToolServerError> {
        let mut known = self.listener.lock().await;
        // A listener stops when its runtime shuts down.
        if let Some(listener) = known.upgrade().filter(|open| open.is_open()) {
            return Ok(listener);
        }
        let opened = Listener::open(self.limits.clone()).await.map_err(|error| {
            ToolServerError::new("no local port can be opened").with_source(error)
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
        .ok_or_else(|| ToolServerError::new("the path of the bridge command is not UTF-8"))?;
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
        let command = self
            .program
            .as_deref()
            .map(|program| command_of(program, url.clone(), &token));
        let visited = registration.visited();
        let served = match (self.has_address, command.transpose()?) {
            (HasAddress::No, Some(command)) => ServedTools::new(command, registration),
            (HasAddress::Yes, Some(command)) => {
                ServedTools::new(address(url, &token), registration).with_command(command)
            }
            (_, None) => ServedTools::new(address(url, &token), registration),
        };
        Ok(served.with_connected_flag(visited))
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
