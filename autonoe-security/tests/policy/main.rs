//! The policy, through the public API.

#[path = "../common/corpus.rs"]
mod all_cases;
mod corpus;
mod denials;
mod named_cases;
mod policies;
mod spec_tables;
mod support;
mod symlinks;
