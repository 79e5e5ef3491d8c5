//! Running flows: from a valid definition to a result.

mod driver;
mod factory;
mod flow;
mod observer;
mod outcome;
mod project_flow;

pub use self::factory::{FlowFactory, FlowOptions, StartOptions};
pub use self::flow::{Created, Flow, Started, fingerprint};
pub use self::observer::{FlowEvent, FlowObserver};
pub use self::project_flow::{FlowRun, FlowRunError, OnInterrupted};
pub use crate::tools::{IterationReport, IterationSlot, SET_OUTPUTS, SIGNAL, iteration_tools};
