//! Who decides what hosts do.

use std::fmt::Debug;

use super::{Host, Store, Violation, World};

/// Decides what the hosts of a [`World`] do, as the code under test does.
pub trait Driver: Sized {
    /// Something that happens beside faults.
    type Event: Debug;

    /// What a host has in its hands.
    type Hands: Debug + Default;

    /// Returns what a host does first in each of its lives.
    fn first(life: u32) -> Self::Event;

    /// Tells whether a host is still there to see an event.
    fn sees(host: &Host<Self::Hands>, event: &Self::Event) -> bool;

    /// Tells whether an event happens also to a host that is cut off. All others come later then.
    fn needs_no_touch(event: &Self::Event) -> bool;

    /// Lets an event happen to a host that is awake.
    fn happen(world: &mut World<Self>, host: usize, event: Self::Event);

    /// Lets an event happen that is nobody's in particular; there is none by default.
    fn happen_elsewhere(_world: &mut World<Self>, event: Self::Event) {
        unreachable!("{event:?} happens to a host");
    }

    /// Empties the hands of a host that crashes. Its agent may live on, as an orphan.
    fn crash(hands: &mut Self::Hands, orphan: Option<u32>, store: &mut Store);

    /// Returns how many sessions it gave up as lost.
    fn lost(&self, store: &Store) -> usize;

    /// Returns what it found that must never be, of its own.
    fn violation(&self) -> Option<Violation>;
}
