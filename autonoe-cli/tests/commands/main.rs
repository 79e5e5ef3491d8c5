//! The commands that look and tell, through the binary.

mod check;
mod doctor;
mod log;
mod setting;
mod status;
