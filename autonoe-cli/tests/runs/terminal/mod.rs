//! In a real terminal: what a person sees, and what Ctrl-C does.

mod interrupt;
mod resume;
mod screen;
mod status;
pub(crate) mod window;
