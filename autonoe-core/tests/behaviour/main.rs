//! Whole behaviour through the public API, with scripted agents in virtual time.

mod assist;
mod budget;
mod builder;
mod control;
mod fencing;
mod gate;
mod keeping;
mod ledger;
mod ledger_book;
mod lent_sessions;
mod lessons;
mod limits;
mod messages;
mod observers;
mod own_backend;
mod resume;
mod run;
mod session;
mod specs;
mod support;
mod sync;
mod telling;
mod toolbox;
mod tools;
mod tracing_spans;
mod virtual_time;
