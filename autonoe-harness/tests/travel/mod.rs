//! Projects that travel between hosts, with a real git.

mod agents_git;
mod away;
mod conformance;
mod fencing;
mod foreign;
mod hostile;
mod killed;
mod moving;
mod setting;
mod trees;
mod vanishing;
