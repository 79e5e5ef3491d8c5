//! First step of a run, for `--dry-run`.

use autonoe_app::text::pluralize;
use autonoe_core::Mode;
use autonoe_core::ledger::LedgerCounts;
use autonoe_core::project::{InstructionOrigin, NextAction, RunPreview};
use autonoe_core::run::Models;
use autonoe_core::time::format_time;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// First action that a run would take.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct First {
    mode: Mode,
    /// The counts of the ledger, if there is one.
    ledger: Option<LedgerCounts>,
    /// The holder of the run lock, which would prevent the run.
    lock: Option<String>,
    /// The interrupted run that would be resumed.
    resumes: Option<String>,
    /// The next step.
    next: Next,
}

/// The next step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Next {
    /// A session of an agent.
    Session {
        /// Its number in the run.
        number: u32,
        /// The name of the instruction.
        instruction: String,
        /// `built-in`, or the file that the text is in.
        text: String,
        /// Number of lines of the text.
        lines: usize,
        /// The model, unless it is the backend's default.
        model: Option<String>,
        /// The tools for deliverables, as the agent calls them.
        tools: Vec<String>,
    },
    /// A wait that was in progress when the run was interrupted.
    Wait {
        /// The end of the wait.
        until: Timestamp,
    },
    /// Nothing, until the run is resumed.
    Paused,
    /// The end of the run.
    Finish {
        /// The reason as a stable name.
        exit: &'static str,
        /// The reason as text.
        reason: String,
    },
    /// A step that this version does not know.
    Unknown,
}

impl First {
    pub(super) fn new(
        mode: Mode,
        models: &Models,
        preview: &RunPreview,
        own_model: Option<&str>,
    ) -> Self {
        Self {
            mode,
            ledger: preview.ledger.map(|ledger| ledger.counts),
            lock: preview.lock_held.as_ref().map(ToString::to_string),
            resumes: preview.resumes.as_ref().map(|run| run.run.to_string()),
            next: Next::new(models, &preview.next, own_model),
        }
    }

    /// Returns the same information as rows of names and values.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let ledger = match &self.ledger {
            None => "none yet".to_owned(),
            Some(counts) => {
                format!("{} of {} deliverables passed", counts.passed, counts.total)
            }
        };
        let mut rows = vec![("mode", self.mode.to_string()), ("ledger", ledger)];
        rows.extend(self.lock.clone().map(|lock| ("blocked by", lock)));
        rows.extend(self.resumes.as_ref().map(|run| {
            let value =
                format!("run {run}; limits that you do not pass keep their original values");
            ("resumes", value)
        }));
        rows.extend(self.next.rows());
        rows
    }
}

impl Next {
    fn new(models: &Models, next: &NextAction, own_model: Option<&str>) -> Self {
        match next {
            NextAction::Session {
                number,
                instruction,
                text,
                tools,
            } => {
                let model = models.for_phase(instruction.phase()).or(own_model);
                Self::Session {
                    number: *number,
                    instruction: instruction.to_string(),
                    text: match &text.origin {
                        InstructionOrigin::BuiltIn => "built-in".to_owned(),
                        InstructionOrigin::File(path) => path.display().to_string(),
                    },
                    lines: text.text.lines().count(),
                    model: model.map(str::to_owned),
                    tools: tools.clone(),
                }
            }
            NextAction::Wait { until } => Self::Wait { until: *until },
            NextAction::Hold => Self::Paused,
            NextAction::Finish { exit } => Self::Finish {
                exit: exit.code(),
                reason: exit.to_string(),
            },
            _ => Self::Unknown,
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Session {
                number,
                instruction,
                text,
                lines,
                model,
                tools,
            } => {
                let model = model.as_deref().unwrap_or("the backend's default");
                vec![
                    ("session", number.to_string()),
                    ("instruction", instruction.clone()),
                    (
                        "text",
                        format!("{text}, {}", pluralize(*lines as u64, "line")),
                    ),
                    ("model", model.to_owned()),
                    ("tools", tools.join(", ")),
                ]
            }
            Self::Wait { until } => vec![("waits until", format_time(*until))],
            Self::Paused => vec![("paused", "until it is resumed".to_owned())],
            Self::Finish { reason, .. } => vec![("ends immediately", reason.clone())],
            Self::Unknown => Vec::new(),
        }
    }
}
