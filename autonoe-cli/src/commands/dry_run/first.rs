//! What a run would do first.

use autonoe_core::{InstructionOrigin, LedgerCounts, Mode, NextStep, RunPreview};
use jiff::Timestamp;
use serde::Serialize;

use crate::args::Work;

/// What a run would do first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct First {
    mode: Mode,
    /// Where the deliverables stand, if there are any.
    ledger: Option<LedgerCounts>,
    /// Who would be in the way.
    held: Option<String>,
    /// The run that broke off and would be gone on with.
    resumes: Option<String>,
    next: Next,
}

#[derive(Debug, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Next {
    Session {
        number: u32,
        instruction: String,
        /// `built-in`, or the file that the text is in.
        text: String,
        lines: usize,
        /// The model, unless it is the backend's own.
        model: Option<String>,
        tools: Vec<String>,
    },
    Wait {
        until: Timestamp,
    },
    Hold,
    Finish {
        /// A stable name.
        exit: &'static str,
        why: String,
    },
    Unknown,
}

impl First {
    pub(super) fn of(work: &Work<'_>, preview: &RunPreview) -> Self {
        Self {
            mode: work.mode,
            ledger: preview.ledger.map(|ledger| ledger.counts),
            held: preview.held.as_ref().map(ToString::to_string),
            resumes: preview.resumes.as_ref().map(|run| run.run.to_string()),
            next: Next::of(work, &preview.next),
        }
    }

    /// Says the same as names and values.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let ledger = match &self.ledger {
            None => "none yet".to_owned(),
            Some(counts) => {
                format!("{} of {} deliverables passed", counts.passed, counts.total)
            }
        };
        let mut rows = vec![("mode", self.mode.to_string()), ("ledger", ledger)];
        rows.extend(self.held.clone().map(|held| ("in the way", held)));
        rows.extend(self.resumes.as_ref().map(|run| {
            let value =
                format!("run {run}; limits that are not given are those that it was started with");
            ("goes on with", value)
        }));
        rows.extend(self.next.rows());
        rows
    }
}

impl Next {
    fn of(work: &Work<'_>, next: &NextStep) -> Self {
        match next {
            NextStep::Session {
                number,
                instruction,
                text,
                tools,
            } => {
                let models = work.agent.models();
                Self::Session {
                    number: *number,
                    instruction: instruction.to_string(),
                    text: match &text.origin {
                        InstructionOrigin::BuiltIn => "built-in".to_owned(),
                        InstructionOrigin::File(path) => path.display().to_string(),
                    },
                    lines: text.text.lines().count(),
                    model: models.for_phase(instruction.phase()).map(str::to_owned),
                    tools: tools.clone(),
                }
            }
            NextStep::Wait { until } => Self::Wait { until: *until },
            NextStep::Hold => Self::Hold,
            NextStep::Finish { exit } => Self::Finish {
                exit: exit.code(),
                why: exit.to_string(),
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
                let model = model.as_deref().unwrap_or("the backend's own");
                vec![
                    ("session", number.to_string()),
                    ("instruction", instruction.clone()),
                    ("text", format!("{text}, {lines} lines")),
                    ("model", model.to_owned()),
                    ("tools", tools.join(", ")),
                ]
            }
            Self::Wait { until } => vec![("waits until", until.to_string())],
            Self::Hold => vec![("holds", "until a person resumes it".to_owned())],
            Self::Finish { why, .. } => vec![("ends at once", why.clone())],
            Self::Unknown => Vec::new(),
        }
    }
}
