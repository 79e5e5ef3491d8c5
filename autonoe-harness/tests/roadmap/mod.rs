//! Tests of parsing roadmaps.

mod findings;
mod parse;
mod upstream;
