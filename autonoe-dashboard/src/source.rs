//! Where views get their snapshots from.

use std::sync::Arc;

use tokio::sync::watch;

use crate::Dashboard;

/// Gives snapshots of a fleet to any number of views.
///
/// An implementer owes the newest snapshot at any time, and wakes who waits for the next. Snapshots
/// in between may be passed over: a slow view sees fewer of them, and never holds up the fleet.
/// When the sender is gone, the last snapshot stays.
pub trait DashboardSource: Send + Sync {
    /// Returns what has the newest snapshot and wakes up at the next.
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

/// A source of snapshots that are pushed into it. Clones are the same source.
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
    /// Makes a feed that begins with a snapshot.
    pub fn new(first: Dashboard) -> Self {
        Self {
            sender: watch::Sender::new(Arc::new(first)),
        }
    }

    /// Shows a snapshot from now on. The same one again wakes nobody.
    pub fn push(&self, snapshot: Dashboard) {
        self.sender.send_if_modified(|shown| {
            let is_new = **shown != snapshot;
            if is_new {
                *shown = Arc::new(snapshot);
            }
            is_new
        });
    }

    /// Changes the snapshot that is shown.
    pub fn update(&self, change: impl FnOnce(&mut Dashboard)) {
        self.sender
            .send_modify(|shown| change(Arc::make_mut(shown)));
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
    fn the_same_snapshot_again_wakes_nobody() {
        let feed = DashboardFeed::new(Dashboard::new("a", "race"));
        let watch = feed.watch();

        feed.push(Dashboard::new("a", "race"));
        assert!(!watch.has_changed().expect("it is open"));

        feed.push(Dashboard::new("b", "race"));
        assert!(watch.has_changed().expect("it is open"));
        assert_eq!(feed.newest().objective, "b");
    }

    #[test]
    fn the_last_snapshot_stays_when_the_feed_is_gone() {
        let feed = DashboardFeed::new(Dashboard::new("a", "race"));
        let watch = feed.watch();
        drop(feed);

        assert!(watch.has_changed().is_err());
        assert_eq!(watch.borrow().objective, "a");
    }
}
