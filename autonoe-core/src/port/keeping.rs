//! What backends keep from one session of a run for the next.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use futures::future::join_all;

/// Something that a backend keeps from one session of a run for the next, such as a program that
/// is slow to start.
///
/// An implementer owes that it does nothing for anybody while it is kept, and that dropping it ends
/// it as well, if not as gently.
#[async_trait]
pub trait Kept: Any + Send {
    /// Ends it, and waits until nothing of it is left.
    async fn end(self: Box<Self>);
}

/// Where a backend may keep something for the next session of the run.
///
/// Whoever runs sessions gives each [`SessionSpec`](super::SessionSpec) the handle of one
/// [`KeptForRun`], and [ends](KeptForRun::end) that with the run. A session that stands alone, as
/// every one that says nothing about it, can keep nothing.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{Kept, KeptForRun};
///
/// struct Warm(u32);
///
/// #[async_trait]
/// impl Kept for Warm {
///     async fn end(self: Box<Self>) {}
/// }
///
/// # futures::executor::block_on(async {
/// let run = KeptForRun::default();
/// let keeping = run.keeping();
/// assert!(keeping.keep(Box::new(Warm(7))).is_ok());
///
/// // Who takes it has it alone.
/// assert!(keeping.take(|warm: &Warm| warm.0 == 7).is_some());
/// assert!(keeping.take(|_: &Warm| true).is_none());
///
/// run.end().await;
/// assert!(keeping.keep(Box::new(Warm(8))).is_err());
/// # });
/// ```
#[derive(Clone, Debug, Default)]
pub struct Keeping(Weak<Shelf>);

impl Keeping {
    /// Tells whether anything can be kept now.
    pub fn is_open(&self) -> bool {
        self.0.upgrade().is_some_and(|shelf| shelf.lock().is_some())
    }

    /// Keeps `thing`.
    ///
    /// # Errors
    ///
    /// There is no next session. The thing is handed back, and whoever has it ends it.
    pub fn keep<T: Kept>(&self, thing: Box<T>) -> Result<(), Box<T>> {
        let Some(shelf) = self.0.upgrade() else {
            return Err(thing);
        };
        match shelf.lock().as_mut() {
            Some(things) => things.push(thing),
            None => return Err(thing),
        }
        Ok(())
    }

    /// Takes a thing of this kind that `fits`, if one is kept. Nobody else has it then.
    pub fn take<T: Kept>(&self, fits: impl Fn(&T) -> bool) -> Option<Box<T>> {
        let shelf = self.0.upgrade()?;
        let mut things = shelf.lock();
        let things = things.as_mut()?;
        let is_it = |thing: &dyn Any| thing.downcast_ref::<T>().is_some_and(&fits);
        let index = things.iter().position(|thing| is_it(thing.as_ref()))?;
        let thing: Box<dyn Any> = things.swap_remove(index);
        thing.downcast().ok()
    }
}

/// All that backends keep between the sessions of one run.
///
/// See [`Keeping`]. When it is dropped, so is all that is kept.
#[derive(Debug, Default)]
pub struct KeptForRun(Arc<Shelf>);

impl KeptForRun {
    /// Returns what sessions of the run are given.
    pub fn keeping(&self) -> Keeping {
        Keeping(Arc::downgrade(&self.0))
    }

    /// Ends all that is kept, and waits for it. Nothing can be kept any more.
    pub async fn end(&self) {
        let things = self.0.lock().take().unwrap_or_default();
        join_all(things.into_iter().map(Kept::end)).await;
    }
}

/// The things; `None` once the run is over.
struct Shelf(Mutex<Option<Vec<Box<dyn Kept>>>>);

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, Option<Vec<Box<dyn Kept>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Shelf {
    fn default() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.lock().as_ref().map(Vec::len);
        f.debug_struct("Shelf").field("kept", &kept).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Counts how it went.
    struct Thing {
        name: &'static str,
        ended: Arc<AtomicU32>,
        dropped: Arc<AtomicU32>,
    }

    #[async_trait]
    impl Kept for Thing {
        async fn end(self: Box<Self>) {
            self.ended.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Drop for Thing {
        fn drop(&mut self) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Something of another backend.
    struct Other;

    #[async_trait]
    impl Kept for Other {
        async fn end(self: Box<Self>) {}
    }

    #[derive(Default)]
    struct Counts {
        ended: Arc<AtomicU32>,
        dropped: Arc<AtomicU32>,
    }

    impl Counts {
        fn thing(&self, name: &'static str) -> Box<Thing> {
            Box::new(Thing {
                name,
                ended: self.ended.clone(),
                dropped: self.dropped.clone(),
            })
        }

        fn both(&self) -> (u32, u32) {
            let read = |count: &AtomicU32| count.load(Ordering::Relaxed);
            (read(&self.ended), read(&self.dropped))
        }
    }

    #[test]
    fn what_is_taken_is_of_the_kind_and_fits() {
        let (run, counts) = (KeptForRun::default(), Counts::default());
        let keeping = run.keeping();
        assert!(keeping.keep(Box::new(Other)).is_ok());
        for name in ["one", "two"] {
            assert!(keeping.keep(counts.thing(name)).is_ok());
        }

        assert!(
            keeping
                .take(|thing: &Thing| thing.name == "three")
                .is_none()
        );
        let taken = keeping.take(|thing: &Thing| thing.name == "two");

        assert_eq!(taken.expect("it is kept").name, "two");
        assert!(keeping.take(|thing: &Thing| thing.name == "two").is_none());
        assert!(keeping.take(|thing: &Thing| thing.name == "one").is_some());
        assert!(keeping.take(|_: &Other| true).is_some());
    }

    #[tokio::test]
    async fn a_run_that_ends_ends_what_is_kept_and_keeps_nothing_more() {
        let (run, counts) = (KeptForRun::default(), Counts::default());
        let keeping = run.keeping();
        assert!(keeping.keep(counts.thing("one")).is_ok());

        run.end().await;

        assert_eq!(counts.both(), (1, 1));
        assert!(!keeping.is_open());
        let back = keeping.keep(counts.thing("two"));
        assert_eq!(back.expect_err("it is over").name, "two");
    }

    #[test]
    fn a_run_that_is_dropped_drops_what_is_kept() {
        let (run, counts) = (KeptForRun::default(), Counts::default());
        let keeping = run.keeping();
        assert!(keeping.keep(counts.thing("one")).is_ok());

        drop(run);

        assert_eq!(counts.both(), (0, 1));
        assert!(keeping.keep(counts.thing("two")).is_err());
    }

    #[test]
    fn a_session_that_stands_alone_keeps_nothing() {
        assert!(!Keeping::default().is_open());
        assert!(Keeping::default().keep(Box::new(Other)).is_err());
    }
}
