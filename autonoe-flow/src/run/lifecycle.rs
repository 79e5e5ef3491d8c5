//! A flow whose state is known at run time alone.

use super::flow::{Created, Flow, Started};
use super::options::StartOptions;
use crate::error::{FlowError, FlowErrorKind};
use crate::machine::{FlowEnd, FlowResult};

/// A flow whose state is known at run time alone, for who cannot hold it by its type.
///
/// The order is that of [`Flow`]: created, started, stopped. What comes out of
/// order is an error, and changes nothing.
#[derive(Debug)]
pub enum FlowLifecycle {
    /// It can be started.
    Created(Flow<Created>),
    /// It was started.
    Started(Box<Flow<Started>>),
    /// It was stopped, or its start failed.
    Stopped,
}

impl FlowLifecycle {
    /// Starts the flow.
    ///
    /// # Errors
    ///
    /// It was started (`already_started`) or stopped (`already_stopped`) before,
    /// or it cannot be started; then it is stopped.
    pub async fn start(&mut self, options: StartOptions) -> Result<(), FlowError> {
        match std::mem::replace(self, Self::Stopped) {
            Self::Created(flow) => {
                *self = Self::Started(Box::new(flow.start(options).await?));
                Ok(())
            }
            Self::Started(flow) => {
                *self = Self::Started(flow);
                let message = "the flow was started before";
                Err(FlowError::new(FlowErrorKind::AlreadyStarted, message))
            }
            Self::Stopped => Err(stopped()),
        }
    }

    /// Runs the flow to its end.
    ///
    /// # Errors
    ///
    /// It was not started (`not_started`), or was stopped before (`already_stopped`).
    pub async fn run(&mut self) -> Result<FlowEnd, FlowError> {
        match self {
            Self::Started(flow) => Ok(flow.run().await),
            Self::Created(_) => Err(not_started()),
            Self::Stopped => Err(stopped()),
        }
    }

    /// Stops the flow and returns its result.
    ///
    /// # Errors
    ///
    /// It was not started (`not_started`), or was stopped before (`already_stopped`).
    pub fn stop(&mut self) -> Result<FlowResult, FlowError> {
        match std::mem::replace(self, Self::Stopped) {
            Self::Started(flow) => Ok(flow.stop()),
            Self::Created(flow) => {
                *self = Self::Created(flow);
                Err(not_started())
            }
            Self::Stopped => Err(stopped()),
        }
    }
}

fn not_started() -> FlowError {
    FlowError::new(FlowErrorKind::NotStarted, "the flow was not started")
}

fn stopped() -> FlowError {
    let message = "the flow was stopped; build another one";
    FlowError::new(FlowErrorKind::AlreadyStopped, message)
}
