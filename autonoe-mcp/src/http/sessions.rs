//! The sessions that are served on one port.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::{SessionKey, Toolbox};

use super::listener::Listener;
use crate::talk::{Calls, Desk};
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

/// How many clients of one session are remembered.
const MOST: usize = 64;

/// The clients that talk to one session, by the ids that they were given.
///
/// An agent may start several, for its sub-agents for example, and each numbers its calls from
/// one: what one cancels is not another's.
#[derive(Default)]
pub(super) struct Clients {
    /// Those that greeted, oldest first.
    greeted: Mutex<VecDeque<(String, Arc<Calls>)>>,
    /// Those that came without an id, all taken for one.
    nameless: Arc<Calls>,
    /// Whether one ever came.
    visited: Arc<AtomicBool>,
}

impl Clients {
    /// Takes in a client that greeted. Of too many the oldest without a call is forgotten: it is
    /// told that its session is over, and greets again.
    pub(super) fn add(&self, id: String) {
        self.visited.store(true, Ordering::Release);
        let mut greeted = self.lock();
        if greeted.len() >= MOST {
            let idle = greeted.iter().position(|(_, calls)| calls.is_idle());
            let forgotten = greeted.remove(idle.unwrap_or_default());
            if let Some((_, calls)) = forgotten {
                calls.cancel_all();
            }
        }
        greeted.push_back((id, Arc::default()));
    }

    /// Returns what becomes `true` when a client comes.
    pub(super) fn visited(&self) -> Arc<AtomicBool> {
        self.visited.clone()
    }

    /// Returns the calls of a client; `None` if its id is unknown.
    pub(super) fn calls(&self, id: Option<&[u8]>) -> Option<Arc<Calls>> {
        self.visited.store(true, Ordering::Release);
        let Some(id) = id else {
            return Some(self.nameless.clone());
        };
        let greeted = self.lock();
        let found = greeted.iter().find(|(known, _)| known.as_bytes() == id);
        found.map(|(_, calls)| calls.clone())
    }

    /// Forgets a client and cancels its calls. Tells whether it was there.
    pub(super) fn remove(&self, id: &[u8]) -> bool {
        let mut greeted = self.lock();
        let place = greeted.iter().position(|(known, _)| known.as_bytes() == id);
        let removed = place.and_then(|place| greeted.remove(place));
        if let Some((_, calls)) = &removed {
            calls.cancel_all();
        }
        removed.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Calls>)>> {
        self.greeted.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn of_too_many_the_oldest_is_forgotten() {
        let clients = Clients::default();
        for number in 0..=MOST {
            clients.add(number.to_string());
        }

        assert!(clients.calls(Some(b"0")).is_none());
        assert!(clients.calls(Some(b"1")).is_some());
        let last = MOST.to_string();
        assert!(clients.calls(Some(last.as_bytes())).is_some());
    }
}
