//! Projects of the first Autonoe, and the page about them.

mod page;
mod project;
