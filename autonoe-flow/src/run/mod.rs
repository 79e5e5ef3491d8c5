//! A flow at work: from a valid definition to its result.

mod access;
mod driver;
mod factory;
mod fingerprint;
mod flow;
mod judging;
mod observer;
mod options;
mod outcome;
mod project_flow;
mod replay;

pub use self::factory::FlowFactory;
pub use self::fingerprint::fingerprint;
pub use self::flow::{Created, Flow, Started};
pub use self::observer::{FlowEvent, FlowObserver};
pub use self::options::{FlowOptions, StartOptions};
pub use self::project_flow::{FlowRun, FlowRunError, OnBrokenOff};
