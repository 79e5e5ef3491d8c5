//! What the two searches share: the files below a directory, without those that git ignores.

mod ignored;
mod pace;
mod walk;

pub(super) use pace::{Pace, Paced};
pub(super) use walk::{Found, Walk};
