//! The server itself.

use std::fmt;
use std::path::PathBuf;
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
/// [`by_command`](Self::by_command).
///
/// ```
/// use std::sync::Arc;
///
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
    program: Option<PathBuf>,
    /// The port that is open, as long as there is a session.
    listener: Mutex<Weak<Listener>>,
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

    fn name(&self, url: String, token: &Token) -> Result<McpServer, ToolServerError> {
        let secret = token.reveal();
        let Some(program) = &self.program else {
            let header = ("Authorization".to_owned(), format!("Bearer {secret}"));
            return Ok(McpServer::Remote {
                transport: RemoteTransport::Http,
                url,
                headers: [header].into(),
            });
        };
        let command = program.to_str().ok_or_else(|| {
            ToolServerError::new("the path of the command that hands on is no text")
        })?;
        Ok(McpServer::Stdio {
            command: command.to_owned(),
            args: vec!["mcp".to_owned(), "--url".to_owned(), url],
            env: [(TOKEN_VARIABLE.to_owned(), secret.to_owned())].into(),
            transport: None,
        })
    }
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
        let server = self.name(registration.url(), &token)?;
        Ok(ServedTools::new(server, registration))
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
