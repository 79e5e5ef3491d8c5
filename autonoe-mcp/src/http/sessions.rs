//! Sessions and clients that one port serves.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::protocol::{Calls, RequestHandler};
use crate::token::Token;

/// Sessions that one port serves, by the number in their URL.
///
/// The number is not a secret. It selects the session whose secret a request must carry.
#[derive(Default)]
pub(super) struct Sessions {
    served: Mutex<HashMap<u64, Arc<Served>>>,
    next: AtomicU64,
}

/// A served session.
pub(super) struct Served {
    pub(super) token: Token,
    pub(super) handler: Arc<RequestHandler>,
    pub(super) clients: Clients,
}

impl Sessions {
    pub(super) fn add(&self, served: Served) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.lock().insert(number, Arc::new(served));
        number
    }

    pub(super) fn remove(&self, number: u64) {
        if let Some(served) = self.lock().remove(&number) {
            served.handler.close();
        }
    }

    /// Returns the session at the URL path `path`.
    pub(super) fn find(&self, path: &str) -> Option<Arc<Served>> {
        let number = path.strip_prefix("/sessions/")?.strip_suffix("/mcp")?;
        self.lock().get(&number.parse().ok()?).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Served>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of remembered clients of one session.
const MAX_CLIENTS: usize = 64;

/// Clients of one session, by their assigned IDs.
///
/// An agent may start several clients, for example for its sub-agents, and each of them numbers its
/// calls from one. A cancellation therefore applies to the calls of its own client only.
#[derive(Default)]
pub(super) struct Clients {
    /// Initialized clients, oldest first.
    initialized: Mutex<VecDeque<(String, Arc<Calls>)>>,
    /// Calls of all clients that sent no ID.
    anonymous: Arc<Calls>,
    /// Whether any client has connected.
    visited: Arc<AtomicBool>,
}

impl Clients {
    /// Adds an initialized client. Above the limit, the oldest client without a running call is
    /// removed. If all clients have running calls, the oldest one is removed and its calls are
    /// cancelled. The next request of a removed client is answered with "not found", so the client
    /// initializes again.
    pub(super) fn add(&self, id: String) {
        self.visited.store(true, Ordering::Release);
        let mut initialized = self.lock();
        if initialized.len() >= MAX_CLIENTS {
            let idle = initialized.iter().position(|(_, calls)| calls.is_idle());
            let forgotten = initialized.remove(idle.unwrap_or_default());
            if let Some((_, calls)) = forgotten {
                calls.cancel_all();
            }
        }
        initialized.push_back((id, Arc::default()));
    }

    /// Returns a flag that becomes `true` when a client connects.
    pub(super) fn visited(&self) -> Arc<AtomicBool> {
        self.visited.clone()
    }

    /// Returns the calls of a client, or `None` if its ID is unknown.
    pub(super) fn calls(&self, id: Option<&[u8]>) -> Option<Arc<Calls>> {
        self.visited.store(true, Ordering::Release);
        let Some(id) = id else {
            return Some(self.anonymous.clone());
        };
        let initialized = self.lock();
        let found = initialized.iter().find(|(known, _)| known.as_bytes() == id);
        found.map(|(_, calls)| calls.clone())
    }

    /// Removes a client and cancels its calls. Returns whether the client was known.
    pub(super) fn remove(&self, id: &[u8]) -> bool {
        let mut initialized = self.lock();
        let place = initialized
            .iter()
            .position(|(known, _)| known.as_bytes() == id);
        let removed = place.and_then(|place| initialized.remove(place));
        if let Some((_, calls)) = &removed {
            calls.cancel_all();
        }
        removed.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Calls>)>> {
        self.initialized
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::Toolbox;

    use super::*;

    #[test]
    fn a_session_is_found_only_at_its_address() {
        let sessions = Sessions::default();
        let session = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let number = sessions.add(Served {
            token: Token::random().expect("there is randomness"),
            handler: Arc::new(RequestHandler::new(session, Toolbox::new([]))),
            clients: Clients::default(),
        });

        assert!(sessions.find(&format!("/sessions/{number}/mcp")).is_some());
        for path in [
            "/",
            "/mcp",
            "/sessions//mcp",
            "/sessions/2/mcp",
            "/sessions/1/mcp/",
        ] {
            assert!(sessions.find(path).is_none(), "{path}");
        }
        sessions.remove(number);
        assert!(sessions.find(&format!("/sessions/{number}/mcp")).is_none());
    }

    #[test]
    fn a_client_is_known_until_it_leaves() {
        let clients = Clients::default();
        clients.add("a".into());

        assert!(clients.calls(Some(b"a")).is_some());
        assert!(clients.calls(Some(b"b")).is_none());
        assert!(clients.calls(None).is_some());
        assert!(clients.remove(b"a"));
        assert!(!clients.remove(b"a"));
        assert!(clients.calls(Some(b"a")).is_none());
    }

    #[test]
    fn the_oldest_client_is_evicted_at_the_limit() {
        let clients = Clients::default();
        for number in 0..=MAX_CLIENTS {
            clients.add(number.to_string());
        }

        assert!(clients.calls(Some(b"0")).is_none());
        assert!(clients.calls(Some(b"1")).is_some());
        let last = MAX_CLIENTS.to_string();
        assert!(clients.calls(Some(last.as_bytes())).is_some());
    }
}
