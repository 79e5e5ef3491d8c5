//! Tests of the policy through the public API.

mod corpus;
mod denials;
mod findings;
mod named_cases;
mod policies;
mod spec_6_2_to_6_4;
mod spec_tables;
mod support;
mod symlinks;
mod worktrees;
