//! The commands that look and tell, through the binary.

mod check;
mod doctor;
mod dry_run;
mod init;
mod log;
mod outputs;
mod schema;
mod setting;
mod status;
mod unwritable;
