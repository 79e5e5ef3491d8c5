//! The commands, one file each.

mod completions;
mod run;
mod signals;

pub(crate) use completions::{completions, man};
pub(crate) use run::{run, sync};
