//! [`DashboardSource`]: snapshots for views.

use std::sync::Arc;

use tokio::sync::watch;

use crate::Dashboard;

/// Provides snapshots of a fleet to any number of views.
///
/// An implementation must have a newest snapshot at any time and notify watchers of the next one.
/// Watchers may skip snapshots in between: a slow view sees fewer of them and never delays the
/// fleet. The last snapshot remains readable after the sender is dropped.
pub trait DashboardSource: Send + Sync {
    /// Returns a receiver with the newest snapshot that is notified of changes.
    fn watch(&self) -> watch::Receiver<Arc<Dashboard>>;

    /// Returns the newest snapshot.
    fn newest(&self) -> Arc<Dashboard> {
        self.watch().borrow().clone()
    }
}

impl<S: DashboardSource + ?Sized> DashboardSource for Arc<S> {
    fn watch(&self) -> watch::Receiver<Arc<Dashboard>> {
        (**self).watch()
    }

    fn newest(&self) -> Arc<Dashboard> {
        (**self).newest()
    }
}

/// Source of snapshots that the driver of a fleet pushes. Clones share one source.
///
/// ```
/// use autonoe_dashboard::{Dashboard, DashboardFeed, DashboardSource, FleetPhase};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let feed = DashboardFeed::new(Dashboard::new("Build the shop", "parallel"));
/// let mut seen = feed.watch();
///
/// feed.update(|fleet| fleet.phase = FleetPhase::Running);
///
/// seen.changed().await?;
/// assert_eq!(seen.borrow().phase, FleetPhase::Running);
/// # Ok::<(), tokio::sync::watch::error::RecvError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct DashboardFeed {
    sender: watch::Sender<Arc<Dashboard>>,
}

impl DashboardFeed {
    /// Creates a feed with a first snapshot.
    pub fn new(first: Dashboard) -> Self {
        Self {
            sender: watch::Sender::new(Arc::new(first)),
        }
    }

    /// Replaces the snapshot. An equal snapshot does not notify watchers.
    pub fn push(&self, snapshot: Dashboard) {
        self.sender.send_if_modified(|current| {
            let is_new = **current != snapshot;
            if is_new {
                *current = Arc::new(snapshot);
            }
            is_new
        });
    }

    /// Changes the snapshot in place and notifies watchers.
    pub fn update(&self, change: impl FnOnce(&mut Dashboard)) {
        self.sender
            .send_modify(|current| change(Arc::make_mut(current)));
    }
}

impl DashboardSource for DashboardFeed {
    fn watch(&self) -> watch::Receiver<Arc<Dashboard>> {
        self.sender.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_snapshot_wakes_no_subscriber() {
        let feed = DashboardFeed::new(Dashboard::new("a", "race"));
        let watch = feed.watch();

        feed.push(Dashboard::new("a", "race"));
        assert!(!watch.has_changed().expect("it is open"));

        feed.push(Dashboard::new("b", "race"));
        assert!(watch.has_changed().expect("it is open"));
        assert_eq!(feed.newest().objective, "b");
    }

    #[test]
    fn the_last_snapshot_stays_when_the_feed_is_dropped() {
        let feed = DashboardFeed::new(Dashboard::new("a", "race"));
        let watch = feed.watch();
        drop(feed);

        assert!(watch.has_changed().is_err());
        assert_eq!(watch.borrow().objective, "a");
    }
}
