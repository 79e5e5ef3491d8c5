//! State that survives: by its contract, as files, among processes that are killed.

mod contract;
mod faulty;
mod files;
mod killed;
mod model;
mod upstream;
mod worker;
mod writers;
