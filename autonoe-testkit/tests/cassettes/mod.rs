//! What was recorded once is played again, and fails when we decide differently.

mod conformance;
mod file;
mod mismatches;
mod recorded_run;
mod refusals;
mod replay;
