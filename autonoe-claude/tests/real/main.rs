//! The backend on both pinned builds of the real program, offline: the model is scripted.

mod build;
mod conformance;
mod endings;
mod setting;
mod turns;
mod whole_run;
