//! Engines and what carries out runs for them.

mod local;
