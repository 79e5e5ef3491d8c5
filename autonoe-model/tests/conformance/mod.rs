//! Tests of the `ModelClient` suite: every provider passes it, and clients with one fault each do
//! not.

mod faulty;
mod memory;
mod providers;
mod replies;
mod scripted;
mod tool_results;
mod turns;
