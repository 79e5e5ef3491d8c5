//! The commands that look and tell, through the binary.

mod log;
mod setting;
mod status;
