//! Tests in a real terminal: the screen, Ctrl-C and resuming.

mod interrupt;
pub(crate) mod pty;
mod screen;
mod status;
