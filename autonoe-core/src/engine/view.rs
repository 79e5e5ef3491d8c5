//! How a run stands.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{RunOutcome, RunProgress, RunSpec};
use crate::domain::RunId;
use crate::port::WaitReason;

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunView {
    /// Which run.
    pub id: RunId,
    /// What it does.
    pub phase: RunPhase,
    /// The host that it is on, as far as the engine has several and tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Why it does not come on now, for people, as far as the engine knows: what was tried last and
    /// will be tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What it waits for between two sessions, as far as the engine knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<RunWait>,
    /// What it is to do, as far as the engine tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<RunSpec>,
    /// How far it is; `None` if nobody can say now, because who knows does not answer.
    #[serde(flatten)]
    pub at: Option<RunProgress>,
    /// What it came to, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
}

impl RunView {
    /// Makes the view of a run that has not begun.
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            phase: RunPhase::Waiting,
            host: None,
            trouble: None,
            wait: None,
            spec: None,
            at: Some(RunProgress::default()),
            outcome: None,
        }
    }
}

/// What a run waits for, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunWait {
    /// For what.
    pub reason: WaitReason,
    /// Until when.
    pub until: Timestamp,
}

impl RunWait {
    /// Waits for something until a time.
    pub fn new(reason: WaitReason, until: Timestamp) -> Self {
        Self { reason, until }
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunPhase {
    /// It has not begun.
    Waiting,
    /// It works.
    Running,
    /// It is held until it is resumed.
    Paused,
    /// It was told to end, and has not ended yet.
    Stopping,
    /// It has ended.
    Ended,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_knows_is_left_out_and_read_as_that() {
        let mut view = RunView::new(RunId::new("shop-1"));
        view.at = None;

        let written = serde_json::to_value(&view).expect("JSON");

        assert_eq!(written, json!({"id": "shop-1", "phase": "waiting"}));
        let read: RunView = serde_json::from_value(written).expect("a view");
        assert_eq!(read, view);
    }

    #[test]
    fn how_far_a_run_is_stands_beside_the_rest() {
        let mut view = RunView::new(RunId::new("shop-1"));
        view.at = Some(RunProgress::of(0.5));

        let written = serde_json::to_value(&view).expect("JSON");

        assert_eq!(written["progress"], 0.5);
        let read: RunView = serde_json::from_value(written).expect("a view");
        assert_eq!(read, view);
    }
}
