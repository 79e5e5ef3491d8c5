//! [`Notice`]: the content of an escalation.

use autonoe_core::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::definition::{FlowName, ReturnFlow, StepId};

/// The content of an escalation.
///
/// ```
/// use autonoe_core::RunId;
/// use autonoe_flow::definition::ReturnFlow;
/// use autonoe_flow::escalation::{Notice, NoticeFailure};
/// use autonoe_flow::FlowErrorKind;
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
/// assert_eq!(notice.id(), "5f2a-4-draft-1");
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
    /// The number of the visit, counted from 1.
    pub visit: u64,
    /// The iteration in which the step failed.
    pub iteration: u64,
    /// The reason of the failure.
    pub failure: NoticeFailure,
    /// Continuation of the flow.
    pub return_flow: ReturnFlow,
    /// The time of the failure.
    pub at: Timestamp,
}

/// The reason why a step failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeFailure {
    /// A stable name for programs, for example `step_failed`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl NoticeFailure {
    /// Creates a failure with the code of `kind`.
    pub fn new(kind: crate::error::FlowErrorKind, message: impl Into<String>) -> Self {
        Self {
            code: kind.code().to_owned(),
            message: message.into(),
        }
    }
}

impl Notice {
    /// Returns the ID of the notice. It is the same for each delivery.
    ///
    /// A flow that is killed during a delivery sends the notice again after it is resumed.
    /// Receivers use the ID to count it once. The iteration alone does not identify a notice: a step
    /// without a prompt can fail again in the same iteration. Each visit of a step sends at most one
    /// notice.
    pub fn id(&self) -> String {
        // The signed content is separated by dots, so the ID must not contain any.
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        };
        let plain = |text: &str| -> String { text.chars().map(plain).collect() };
        let (run, step) = (plain(self.run.as_str()), plain(self.step.as_str()));
        format!("{run}-{}-{step}-{}", self.iteration, self.visit)
    }
}
