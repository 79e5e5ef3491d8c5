//! Whatever goes wrong with a backend: a run ends with a report, and the ledger tells no lies.

mod diligent_backend;
mod faults;
mod seeded_runs;
