//! A run on several hosts that crash, sleep and lose touch, played from a seed.
//!
//! The project, its hosts, its clock and what goes wrong are a model. Who decides what the hosts do
//! is real, and is given as a [`Driver`]: the runs of one machine and those of a cluster are played
//! in the same world and must come to the same. A seed gives the same schedule each time.
//!
//! [`simulate`] plays one schedule. Whatever went wrong, every session took effect exactly once,
//! the run ended after the faults did, and it came to what a run without faults comes to; or it is
//! said which [`Violation`] there was. One that somebody cancels ends as interrupted, begins nothing
//! after who decides took note of that, and counts what was done until then once. [`Rules`] can be switched off, to see that the simulation
//! finds what they are for.

mod faults;
mod script;
mod store;
mod verdict;
mod world;

pub use faults::Random;
pub use script::Script;
pub use store::{Fenced, Rules, Store};
pub use verdict::{Tally, Violation};
pub use world::{Driver, FAULTS_END, HOSTS, Host, World, simulate};
