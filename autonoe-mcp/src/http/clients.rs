//! The clients that talk to one session.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::talk::Calls;

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
    use super::*;

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
