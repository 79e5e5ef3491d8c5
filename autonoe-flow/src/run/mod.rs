//! A flow at work: from a valid definition to its result.

mod driver;
mod factory;
mod flow;
mod judging;
mod observer;
mod options;
mod outcome;
mod project_flow;

pub use self::factory::FlowFactory;
pub use self::flow::{Created, Flow, Started, fingerprint};
pub use self::observer::{FlowEvent, FlowObserver};
pub use self::options::{FlowOptions, StartOptions};
pub use self::project_flow::{FlowRun, FlowRunError, OnBrokenOff};
