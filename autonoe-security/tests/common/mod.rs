//! The corpora and mutations that several tests read.

pub(crate) mod corpus;
pub(crate) mod mutate;
