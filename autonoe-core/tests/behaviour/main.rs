//! Whole behaviour through the public API, with scripted agents in virtual time.

mod budget;
mod builder;
mod control;
mod gate;
mod ledger;
mod lessons;
mod observers;
mod own_backend;
mod robustness;
mod run;
mod session;
mod specs;
mod support;
mod sync;
mod tools;
mod virtual_time;
