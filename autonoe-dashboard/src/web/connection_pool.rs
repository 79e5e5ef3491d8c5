//! Room for connections, most of it for those that have shown the token.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

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

/// How much a [`DashboardServer`](super::DashboardServer) takes, and how long it waits.
///
/// ```
/// use autonoe_dashboard::web::ServeLimits;
///
/// let mut limits = ServeLimits::default();
/// limits.streams = 4;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeLimits {
    /// How long the body of a request may be. 64 KiB.
    pub body_bytes: usize,
    /// How long the head of a request may be. 16 KiB, and at least 8 KiB.
    pub head_bytes: usize,
    /// How many headers a request may have. 64.
    pub headers: usize,
    /// How many connections that have shown the token there may be at a time; others get 503. 128.
    pub connections: usize,
    /// How many other connections there may be at a time. A new one closes the oldest. 64.
    pub unauthenticated: usize,
    /// How many pages may watch at a time; others are told to come back. 32.
    pub streams: usize,
    /// How long a connection may take to show the token. 5 seconds.
    pub head_time: Duration,
    /// How long a request may take to arrive, and a connection that has shown the token may be idle. 30 seconds.
    pub read_time: Duration,
    /// How long the other side may read nothing of what is sent. 30 seconds.
    pub write_time: Duration,
    /// How often a page hears that the server is alive. 10 seconds; pages give up after 35.
    pub heartbeat: Duration,
    /// How long at least lies between two snapshots of a page. 200 milliseconds.
    pub pace: Duration,
    /// How long connections may take to end when the server does. 2 seconds.
    pub closing: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body_bytes: 64 * 1024,
            head_bytes: 16 * 1024,
            headers: 64,
            connections: 128,
            unauthenticated: 64,
            streams: 32,
            head_time: Duration::from_secs(5),
            read_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            heartbeat: Duration::from_secs(10),
            pace: Duration::from_millis(200),
            closing: Duration::from_secs(2),
        }
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
