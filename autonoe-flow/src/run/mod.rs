//! Running flows: from a valid definition to a result.

mod driver;
mod factory;
mod flow;
mod observer;
mod options;
mod outcome;
mod project_flow;
mod started;
mod step_check;

pub use self::factory::FlowFactory;
pub use self::flow::{Created, Flow, fingerprint};
pub use self::observer::{FlowEvent, FlowObserver};
pub use self::options::{FlowOptions, StartOptions};
pub use self::project_flow::{FlowRun, FlowRunError, OnInterrupted};
pub use self::started::Started;
pub use crate::tools::{IterationReport, IterationSlot, SET_OUTPUTS, SIGNAL, iteration_tools};
