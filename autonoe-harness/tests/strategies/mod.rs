//! Tests of strategies: the table of the specification, and the conformance suite.

mod conformance;
mod faulty;
mod specification;
