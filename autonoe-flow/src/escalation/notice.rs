//! What is told when a step is escalated.

use autonoe_core::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::definition::{FlowName, ReturnFlow, StepId};

/// What is told when a step is escalated.
///
/// ```
/// use autonoe_core::RunId;
/// use autonoe_flow::{FlowErrorKind, Notice, NoticeFailure, ReturnFlow};
///
/// let notice = Notice {
///     run: RunId::new("5f2a"),
///     flow: "review".parse()?,
///     step: "draft".parse()?,
///     visit: 1,
///     iteration: 4,
///     failure: NoticeFailure::new(FlowErrorKind::StepFailed, "the tests fail"),
///     return_flow: ReturnFlow::Abort,
///     at: "2026-01-31T12:00:00Z".parse()?,
/// };
///
/// assert_eq!(notice.id(), "5f2a-4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// The run of the flow.
    pub run: RunId,
    /// The flow.
    pub flow: FlowName,
    /// The step that failed.
    pub step: StepId,
    /// The how-manieth visit of it, from 1.
    pub visit: u64,
    /// The iteration in which it failed.
    pub iteration: u64,
    /// Why it failed.
    pub failure: NoticeFailure,
    /// How the flow goes on.
    pub return_flow: ReturnFlow,
    /// When it failed.
    pub at: Timestamp,
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeFailure {
    /// A stable name for programs, for example `step_failed`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl NoticeFailure {
    /// Says why a step failed.
    pub fn new(kind: crate::FlowErrorKind, message: impl Into<String>) -> Self {
        Self {
            code: kind.code().to_owned(),
            message: message.into(),
        }
    }
}

impl Notice {
    /// Returns what this notice is known by, the same each time it is told.
    ///
    /// A flow that is killed while it tells tells it again; by this, it counts once. A step
    /// fails at most once in an iteration, so that the run and the iteration are enough.
    pub fn id(&self) -> String {
        // What is signed has full stops between its parts, so that there may be none here.
        let plain = |c: char| match c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            true => c,
            false => '_',
        };
        let run: String = self.run.as_str().chars().map(plain).collect();
        format!("{run}-{}", self.iteration)
    }
}
