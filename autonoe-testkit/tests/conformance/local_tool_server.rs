//! In-process tool server with an optional fault.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{
    McpServer, RemoteTransport, ServedTools, ToolServer, ToolServerError, Toolbox,
};
use autonoe_core::{RunId, ToolContext};
use autonoe_testkit::conformance::{CallAnswer, ToolServerHarness, ToolsClient};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const SECRET: &str = "X-Secret";

/// The fault of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Nothing,
    ForgetsToRead,
    HidesATool,
    MendsArguments,
    KeepsReasonsToItself,
    TakesAnotherTool,
    MistakesTheSession,
    DoesOneThingAtATime,
    ListensOnAllInterfaces,
    RequiresNoSecret,
    ComparesHalfTheSecret,
    TakesAnySecret,
    MixesUpTools,
    HasOneSecret,
    KeepsServing,
    ContinuesCalls,
    EndsThemAll,
    DoesNotServe,
    Panics,
}

/// A tool server without a network.
pub(crate) struct LocalServer {
    fault: Fault,
    sessions: Arc<Mutex<BTreeMap<u32, Session>>>,
    next: AtomicU32,
    one_at_a_time: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone)]
struct Session {
    key: SessionKey,
    secret: String,
    tools: Toolbox,
    over: CancellationToken,
}

impl LocalServer {
    pub(crate) fn harness(fault: Fault) -> Arc<dyn ToolServerHarness> {
        Arc::new(Harness(Arc::new(Self {
            fault,
            sessions: Arc::default(),
            next: AtomicU32::new(1),
            one_at_a_time: Arc::default(),
        })))
    }

    fn session(&self, number: u32) -> Option<Session> {
        let sessions = self.sessions.lock().expect("not poisoned");
        match self.fault {
            Fault::MixesUpTools => sessions.values().next_back().cloned(),
            _ => sessions.get(&number).cloned(),
        }
    }

    fn lets_in(&self, session: &Session, secret: &str) -> bool {
        match self.fault {
            Fault::RequiresNoSecret => true,
            Fault::ComparesHalfTheSecret => secret
                .get(..8)
                .is_some_and(|half| session.secret.starts_with(half)),
            Fault::TakesAnySecret => {
                let sessions = self.sessions.lock().expect("not poisoned");
                sessions.values().any(|session| session.secret == secret)
            }
            _ => session.secret == secret,
        }
    }
}

#[async_trait]
impl ToolServer for LocalServer {
    async fn serve(
        &self,
        session: &SessionKey,
        tools: Toolbox,
    ) -> Result<ServedTools, ToolServerError> {
        match self.fault {
            Fault::DoesNotServe => return Err(ToolServerError::new("it is Sunday")),
            Fault::Panics => panic!("I do not serve anybody"),
            _ => {}
        }
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let secret = match self.fault {
            Fault::HasOneSecret => "secret-for-all-of-you".to_owned(),
            _ => format!("{number:08}-secret-{number:08}"),
        };
        let over = CancellationToken::new();
        self.sessions.lock().expect("not poisoned").insert(
            number,
            Session {
                key: session.clone(),
                secret: secret.clone(),
                tools,
                over: over.clone(),
            },
        );
        let host = match self.fault {
            Fault::ListensOnAllInterfaces => "0.0.0.0",
            _ => "127.0.0.1",
        };
        let server = McpServer::Remote {
            transport: RemoteTransport::Http,
            url: format!("http://{host}:1/{number}"),
            headers: [(SECRET.to_owned(), secret)].into(),
        };
        let (fault, sessions) = (self.fault, self.sessions.clone());
        let end = End {
            fault,
            sessions,
            number,
            over,
        };
        Ok(ServedTools::new(server, end))
    }
}

struct End {
    fault: Fault,
    sessions: Arc<Mutex<BTreeMap<u32, Session>>>,
    number: u32,
    over: CancellationToken,
}

impl Drop for End {
    fn drop(&mut self) {
        let mut sessions = self.sessions.lock().expect("not poisoned");
        match self.fault {
            Fault::KeepsServing => {}
            Fault::EndsThemAll => sessions.clear(),
            _ => {
                sessions.remove(&self.number);
            }
        }
        if self.fault != Fault::ContinuesCalls {
            self.over.cancel();
        }
    }
}

struct Harness(Arc<LocalServer>);

#[async_trait]
impl ToolServerHarness for Harness {
    fn server(&self) -> Arc<dyn ToolServer> {
        self.0.clone()
    }

    async fn connect(&self, at: &McpServer) -> Result<Arc<dyn ToolsClient>, String> {
        let McpServer::Remote { url, headers, .. } = at else {
            return Err("it is configured as a command".to_owned());
        };
        let number = url.rsplit('/').next().and_then(|end| end.parse().ok());
        let number = number.ok_or("there is no such address")?;
        let session = self.0.session(number).ok_or("nobody is there")?;
        let secret = headers.get(SECRET).map_or("", String::as_str);
        if !self.0.lets_in(&session, secret) {
            return Err("the secret is wrong".to_owned());
        }
        let server = self.0.clone();
        Ok(Arc::new(Client { server, number }))
    }
}

struct Client {
    server: Arc<LocalServer>,
    number: u32,
}

#[async_trait]
impl ToolsClient for Client {
    async fn tools(&self) -> Result<Vec<Value>, String> {
        let session = self.server.session(self.number).ok_or("nobody is there")?;
        let hidden = usize::from(self.server.fault == Fault::HidesATool);
        let listed = session.tools.definitions().skip(hidden).map(|tool| {
            let schema = match self.server.fault {
                Fault::ForgetsToRead => json!({"type": "object"}),
                _ => tool.input_schema.clone(),
            };
            json!({"name": tool.name, "inputSchema": schema})
        });
        Ok(listed.collect())
    }

    async fn call(&self, tool: &str, mut input: Value) -> Result<CallAnswer, String> {
        let session = self.server.session(self.number).ok_or("nobody is there")?;
        let fault = self.server.fault;
        let _turn = match fault {
            Fault::DoesOneThingAtATime => Some(self.server.one_at_a_time.lock().await),
            _ => None,
        };
        let is_known = session.tools.definitions().any(|known| known.name == tool);
        let tool = match fault {
            Fault::TakesAnotherTool if !is_known => "echo",
            _ => tool,
        };
        if fault == Fault::MendsArguments && tool == "echo" && input.get("text").is_none() {
            input["text"] = json!("");
        }
        let key = match fault {
            Fault::MistakesTheSession => SessionKey {
                run: RunId::new("another"),
                number: 1,
            },
            _ => session.key.clone(),
        };
        let context = ToolContext::new(key).with_cancellation(session.over.clone());
        Ok(match session.tools.call(tool, input, context).await {
            Ok(output) => CallAnswer::Done(output.output),
            Err(_) if fault == Fault::KeepsReasonsToItself => CallAnswer::Refused("no".to_owned()),
            Err(error) => CallAnswer::Refused(error.to_string()),
        })
    }
}
