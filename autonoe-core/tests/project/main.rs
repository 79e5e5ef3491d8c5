//! The project on disk, through the public API and with real files.
#![cfg(feature = "project")]

mod journal;
mod kill;
mod layout;
mod lock;
mod project_run;
mod repository;
mod run;
