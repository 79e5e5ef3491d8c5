//! Integration tests of the tool server: over HTTP, over pipes, and by unauthorized clients.

mod agent;
mod calls;
mod fixture;
mod fuzzing;
mod http_client;
mod leaks;
mod many;
mod official;
mod raw;
mod refusals;
mod shutdown;
mod suite;
mod whole_run;
