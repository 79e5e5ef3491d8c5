//! Room for connections, most of it for those that have shown the token.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The connections of a server.
///
/// Nothing is known of a connection before its first request. Such connections share a small room of their own, in
/// which a new one takes the place of the oldest: connections that send nothing keep nobody out.
#[derive(Debug)]
pub(super) struct ConnectionPool {
    /// The connections that have not shown the token, oldest first.
    unauthenticated: Mutex<VecDeque<Entry>>,
    most_unauthenticated: usize,
    authenticated: Arc<Semaphore>,
    next_id: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    evicted: CancellationToken,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct PooledConnection {
    pool: Arc<ConnectionPool>,
    id: u64,
    evicted: CancellationToken,
    permit: OnceLock<OwnedSemaphorePermit>,
}

impl ConnectionPool {
    /// Makes room for so many connections of each kind, at least one.
    pub(super) fn new(unauthenticated: usize, authenticated: usize) -> Arc<Self> {
        Arc::new(Self {
            unauthenticated: Mutex::default(),
            most_unauthenticated: unauthenticated.max(1),
            authenticated: Arc::new(Semaphore::new(authenticated.max(1))),
            next_id: AtomicU64::new(0),
        })
    }

    /// Adds a new connection, and evicts the oldest one that has not authenticated if there are too many.
    pub(super) fn add(self: &Arc<Self>) -> PooledConnection {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let evicted = CancellationToken::new();
        let mut waiting = self.unauthenticated();
        if waiting.len() >= self.most_unauthenticated
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.evicted.cancel();
        }
        waiting.push_back(Entry {
            id,
            evicted: evicted.clone(),
        });
        PooledConnection {
            pool: self.clone(),
            id,
            evicted,
            permit: OnceLock::new(),
        }
    }

    fn unauthenticated(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        let locked = self.unauthenticated.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a connection from those that have not authenticated; tells whether it was there.
    fn remove(&self, id: u64) -> bool {
        let mut waiting = self.unauthenticated();
        let place = waiting.iter().position(|entry| entry.id == id);
        place.and_then(|place| waiting.remove(place)).is_some()
    }
}

impl PooledConnection {
    /// Gives the connection a place among those that have authenticated; `false` if there is none.
    pub(super) fn authenticate(&self) -> bool {
        if self.is_authenticated() {
            return true;
        }
        let permit = self.pool.authenticated.clone().try_acquire_owned();
        match permit {
            Ok(permit) if self.pool.remove(self.id) => self.permit.set(permit).is_ok(),
            _ => false,
        }
    }

    /// Returns whether the connection has authenticated.
    pub(super) fn is_authenticated(&self) -> bool {
        self.permit.get().is_some()
    }

    /// Waits until a newer connection has taken its place.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        self.pool.remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_evicted(connection: &PooledConnection) -> bool {
        connection.evicted.is_cancelled()
    }

    #[test]
    fn a_new_connection_takes_the_place_of_the_oldest_without_the_token() {
        let pool = ConnectionPool::new(2, 4);
        let known = pool.add();
        assert!(known.authenticate());

        let silent: Vec<_> = (0..5).map(|_| pool.add()).collect();

        let evicted: Vec<_> = silent.iter().map(is_evicted).collect();
        assert_eq!(evicted, [true, true, true, false, false]);
        assert!(!is_evicted(&known) && known.authenticate());
        assert!(!silent[0].authenticate(), "it is evicted");
        assert!(silent[4].authenticate());
    }

    #[test]
    fn a_connection_that_ends_makes_room_in_its_kind() {
        let pool = ConnectionPool::new(1, 1);
        let first = pool.add();
        assert!(first.authenticate());
        let second = pool.add();
        assert!(!second.authenticate());
        drop(first);
        assert!(second.authenticate());

        drop(pool.add());
        let third = pool.add();
        assert!(!is_evicted(&third));
        assert_eq!(pool.unauthenticated().len(), 1);
    }
}
