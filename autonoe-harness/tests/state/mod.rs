//! State and shared things that survive: by its contract, as files, among processes that are killed.

mod contract;
mod faulty;
mod files;
mod killed;
mod model;
mod opened_twice;
mod shared;
mod shared_killed;
mod upstream;
mod worker;
mod writers;
