//! Seeded simulation of a run on several hosts that crash, sleep and lose their connection.
//!
//! The project, its hosts, its clock and the faults are a model. The code that decides what the
//! hosts do is real and is passed as a [`Driver`]: runs on one machine and runs on a cluster are
//! played in the same simulation and must reach the same result. A seed reproduces its schedule.
//!
//! [`simulate`] plays one schedule. Whatever went wrong, every session took effect exactly once,
//! the run ended after the faults stopped, and it reached the result of a run without faults;
//! otherwise a [`Violation`] is returned. A cancelled run ends as interrupted, starts nothing after
//! the driver has noticed the cancellation, and counts the work until then once. [`Rules`] can be
//! switched off to verify that the simulation finds the faults that they prevent.

mod random;
mod simulated_work;
mod simulator;
mod store;

pub use random::Random;
pub use simulated_work::SimulatedWork;
pub use simulator::{Driver, FAULTS_END, HOSTS, Host, Simulator, Stats, Violation, simulate};
pub use store::{Fenced, Rules, Store};
