//! The view in a terminal.
//!
//! [`draw`] and [`press`] are pure: a picture of a snapshot, and what a key means. [`show`] is the
//! loop around them, on a terminal and keys that the caller brings. With the feature `terminal`
//! there is `FullScreen`, a real terminal.

mod columns;
mod draw;
mod driver;
mod harmless;
mod keys;
mod members;
mod panes;
#[cfg(feature = "terminal")]
mod screen;
mod state;

pub use draw::draw;
pub use driver::{ViewEnd, ViewInput, show};
pub use keys::{Key, Reaction, press};
#[cfg(feature = "terminal")]
pub use screen::FullScreen;
pub use state::ViewState;
