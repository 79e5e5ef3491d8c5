//! The commands, one file each.

mod completions;
mod run;
mod signals;
mod status;

pub(crate) use completions::{completions, man};
pub(crate) use run::{run, sync};
pub(crate) use status::status;
