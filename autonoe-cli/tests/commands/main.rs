//! The commands that look and tell, through the binary.

mod setting;
mod status;
