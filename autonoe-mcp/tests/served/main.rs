//! Tools as agents reach them: over HTTP, over pipes, and by those who should not.

mod agent;
mod calling;
mod ending;
mod fuzzing;
mod hiding;
mod http_client;
mod many;
mod official;
mod raw;
mod refusing;
mod setting;
mod suite;
mod whole_run;
