//! The sessions that are served on one port.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::{SessionKey, Toolbox};

use super::clients::Clients;
use super::listener::Listener;
use crate::talk::Desk;
use crate::token::Token;

/// The sessions that are served on one port, by the number in their address.
///
/// The number is no secret. It finds the session whose secret a request must have.
#[derive(Default)]
pub(super) struct Sessions {
    served: Mutex<HashMap<u64, Arc<Served>>>,
    next: AtomicU64,
}

/// A session that is served.
pub(super) struct Served {
    pub(super) token: Token,
    pub(super) desk: Arc<Desk>,
    pub(super) clients: Clients,
}

impl Sessions {
    fn add(&self, served: Served) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.lock().insert(number, Arc::new(served));
        number
    }

    fn remove(&self, number: u64) {
        if let Some(served) = self.lock().remove(&number) {
            served.desk.close();
        }
    }

    /// Returns the session at `path`.
    pub(super) fn at(&self, path: &str) -> Option<Arc<Served>> {
        let number = path.strip_prefix("/sessions/")?.strip_suffix("/mcp")?;
        self.lock().get(&number.parse().ok()?).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Served>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that is served until this is dropped. It keeps the port open.
pub(super) struct Registration {
    listener: Arc<Listener>,
    number: u64,
    visited: Arc<AtomicBool>,
}

impl Registration {
    pub(super) fn new(
        listener: Arc<Listener>,
        session: SessionKey,
        tools: Toolbox,
        token: Token,
    ) -> Self {
        let clients = Clients::default();
        let visited = clients.visited();
        let number = listener.sessions().add(Served {
            token,
            desk: Arc::new(Desk::new(session, tools)),
            clients,
        });
        Self {
            listener,
            number,
            visited,
        }
    }

    /// Returns what becomes `true` when somebody with the secret comes.
    pub(super) fn visited(&self) -> Arc<AtomicBool> {
        self.visited.clone()
    }

    pub(super) fn url(&self) -> String {
        let (address, number) = (self.listener.address(), self.number);
        format!("http://{address}/sessions/{number}/mcp")
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.listener.sessions().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;

    use super::*;

    #[test]
    fn a_session_is_found_at_its_address_and_nowhere_else() {
        let sessions = Sessions::default();
        let session = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let number = sessions.add(Served {
            token: Token::random().expect("there is randomness"),
            desk: Arc::new(Desk::new(session, Toolbox::new([]))),
            clients: Clients::default(),
        });

        assert!(sessions.at(&format!("/sessions/{number}/mcp")).is_some());
        for path in [
            "/",
            "/mcp",
            "/sessions//mcp",
            "/sessions/2/mcp",
            "/sessions/1/mcp/",
        ] {
            assert!(sessions.at(path).is_none(), "{path}");
        }
        sessions.remove(number);
        assert!(sessions.at(&format!("/sessions/{number}/mcp")).is_none());
    }
}
