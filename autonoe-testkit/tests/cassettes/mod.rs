//! Cassette replays succeed on equal decisions and fail on different ones.

mod conformance;
mod file;
mod mismatches;
mod recorded_run;
mod refusals;
mod replay;
