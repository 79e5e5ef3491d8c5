//! Roadmaps, read from files as people write them.

mod mistakes;
mod reading;
mod upstream;
