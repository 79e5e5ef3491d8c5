//! Whatever goes wrong with a backend: a run ends with a report, and the ledger tells no lies.

mod diligent_backend;
mod faults;
mod faulty_repository;
mod seeded_runs;
