//! What the two searches share: the files below a directory, without those that git ignores.

mod walk;

pub(super) use walk::{Found, Pace, Paced, Walk};
