//! Strategies carried out on an engine, in virtual time.

mod budgets;
mod following;
mod hundred;
mod lessons;
mod scripted;
mod unruly;
