//! Tests of the terminal view: snapshots in several sizes, keys, and the event loop.

mod arbitrary;
mod event_loop;
mod keys;
mod pictures;
#[cfg(all(unix, feature = "terminal"))]
mod real;
