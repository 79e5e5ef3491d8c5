//! [`ConnectionPool`]: connection limits, mostly reserved for authenticated connections.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections of a server.
///
/// A connection is anonymous until its first request. Anonymous connections share a small pool, in
/// which a new connection evicts the oldest one. Idle connections therefore cannot block others.
#[derive(Debug)]
pub(super) struct ConnectionPool {
    /// Unauthenticated connections, oldest first.
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

/// Slot of one connection, released on drop.
#[derive(Debug)]
pub(super) struct PooledConnection {
    pool: Arc<ConnectionPool>,
    id: u64,
    evicted: CancellationToken,
    permit: OnceLock<OwnedSemaphorePermit>,
}

impl ConnectionPool {
    /// Creates a pool with these limits for each kind of connection, at least one.
    pub(super) fn new(unauthenticated: usize, authenticated: usize) -> Arc<Self> {
        Arc::new(Self {
            unauthenticated: Mutex::default(),
            most_unauthenticated: unauthenticated.max(1),
            authenticated: Arc::new(Semaphore::new(authenticated.max(1))),
            next_id: AtomicU64::new(0),
        })
    }

    /// Adds a new connection. If there are too many unauthenticated ones, evicts the oldest.
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

    /// Removes an unauthenticated connection. Returns whether it was there.
    fn remove(&self, id: u64) -> bool {
        let mut waiting = self.unauthenticated();
        let place = waiting.iter().position(|entry| entry.id == id);
        place.and_then(|place| waiting.remove(place)).is_some()
    }
}

impl PooledConnection {
    /// Moves the connection to the authenticated ones. Returns `false` if these are at their limit
    /// or the connection was evicted.
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

    /// Waits until a newer connection evicts this one.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        self.pool.remove(self.id);
    }
}

/// Size, count and time limits of a [`DashboardServer`](super::DashboardServer).
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
    /// Maximum length of a request body in bytes. Default: 64 KiB.
    pub body_bytes: usize,
    /// Maximum length of a request head in bytes. Default: 16 KiB; values below 8 KiB act as 8 KiB.
    pub head_bytes: usize,
    /// Maximum number of headers of a request. Default: 64.
    pub headers: usize,
    /// Maximum number of concurrent authenticated connections; further ones get 503. Default: 128.
    pub connections: usize,
    /// Maximum number of concurrent unauthenticated connections. A new one closes the oldest.
    /// Default: 64.
    pub unauthenticated: usize,
    /// Maximum number of pages that watch concurrently. Further pages receive a response that asks
    /// them to retry. Default: 32.
    pub streams: usize,
    /// Maximum time for a connection to authenticate. Default: 5 seconds.
    pub head_time: Duration,
    /// Maximum time for a request to arrive, and for an authenticated connection to be idle.
    /// Default: 30 seconds.
    pub read_time: Duration,
    /// Maximum time without the client reading any sent data. Default: 30 seconds.
    pub write_time: Duration,
    /// Interval of heartbeats to pages. Default: 10 seconds. Pages give up after 35.
    pub heartbeat: Duration,
    /// Minimum time between two snapshots to a page. Default: 200 milliseconds.
    pub snapshot_interval: Duration,
    /// Grace period for connections on shutdown. Default: 2 seconds.
    pub shutdown_grace: Duration,
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
            snapshot_interval: Duration::from_millis(200),
            shutdown_grace: Duration::from_secs(2),
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
    fn a_closed_connection_frees_a_slot_of_its_kind() {
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
