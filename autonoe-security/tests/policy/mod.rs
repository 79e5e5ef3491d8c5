//! The policy, through the public API.

mod corpus;
mod denials;
mod findings;
mod named_cases;
mod policies;
mod spec_tables;
mod support;
mod symlinks;
mod worktrees;
