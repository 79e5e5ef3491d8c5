//! Strategies carried out on an engine, in virtual time.

mod budgets;
mod course;
mod following;
mod hundred;
mod lessons;
mod pausing;
mod scripted;
mod unruly;
