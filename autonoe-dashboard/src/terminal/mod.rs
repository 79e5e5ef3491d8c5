//! Terminal view of a fleet.
//!
//! [`draw`] and [`press`] are pure: they render a snapshot and handle a key. [`show`] is the event
//! loop around them, on a terminal and key input of the caller. The feature `terminal` adds
//! `FullScreen`, a real terminal.

mod columns;
mod driver;
mod members;
mod panes;
mod sanitize;
#[cfg(feature = "terminal")]
mod screen;
mod state;

pub use driver::{ViewEnd, ViewInput, draw, show};
#[cfg(feature = "terminal")]
pub use screen::FullScreen;
pub use state::ViewState;
#[doc(hidden)]
pub use state::{Key, Reaction, press};
