//! Strategies carried out on an engine, in virtual time.

mod budgets;
mod following;
mod hundred;
mod lessons;
mod pausing;
mod scripted;
mod unruly;
