//! The behaviour of step flows as their authors and embedders see it.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are used"
)]

mod bad_input;
mod errors;
mod graph;
mod load;
mod mutations;
mod parameters;
mod prompts;
mod reference_walk;
mod registries;
mod schemas;
mod support;
mod validation;
