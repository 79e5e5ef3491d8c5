//! Runs on a faulty backend: each ends with a report, and the ledger is correct.

mod diligent_backend;
mod faults;
mod faulty_repository;
mod seeded_runs;
