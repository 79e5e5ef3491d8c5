//! The view in a terminal: pictures in several sizes, keys, the loop around them.

mod arbitrary;
mod driving;
mod keys;
mod pictures;
#[cfg(all(unix, feature = "terminal"))]
mod real;
