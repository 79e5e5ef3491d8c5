//! What a run would do first.

use autonoe_core::{InstructionOrigin, LedgerCounts, Mode, NextStep, RunPreview, format_time};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::on_model::OnModel;
use crate::args::Work;

/// What a run would do first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct First {
    mode: Mode,
    /// Where the deliverables stand, if there are any.
    ledger: Option<LedgerCounts>,
    /// Who would be in the way.
    held: Option<String>,
    /// The interrupted run that would be resumed.
    resumes: Option<String>,
    /// What would come first.
    next: Next,
}

/// What would come first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Next {
    /// A session of an agent.
    Session {
        /// Its number in the run.
        number: u32,
        /// What the agent is told to do.
        instruction: String,
        /// `built-in`, or the file that the text is in.
        text: String,
        /// How many lines the text has.
        lines: usize,
        /// The model, unless it is the backend's own.
        model: Option<String>,
        /// The tools for deliverables, as the agent calls them.
        tools: Vec<String>,
    },
    /// A wait that was under way when the run was interrupted.
    Wait {
        /// Until when.
        until: Timestamp,
    },
    /// Nothing, until a person resumes it.
    Hold,
    /// The end: there is nothing to do.
    Finish {
        /// Why, as a stable name.
        exit: &'static str,
        /// Why, for people.
        why: String,
    },
    /// Something that this program has no words for.
    Unknown,
}

impl First {
    pub(super) fn of(work: &Work<'_>, preview: &RunPreview, on_model: Option<&OnModel>) -> Self {
        Self {
            mode: work.mode,
            ledger: preview.ledger.map(|ledger| ledger.counts),
            held: preview.held.as_ref().map(ToString::to_string),
            resumes: preview.resumes.as_ref().map(|run| run.run.to_string()),
            next: Next::of(work, &preview.next, on_model),
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
    fn of(work: &Work<'_>, next: &NextStep, on_model: Option<&OnModel>) -> Self {
        match next {
            NextStep::Session {
                number,
                instruction,
                text,
                tools,
            } => {
                let models = work.agent.models();
                let own = on_model.map(OnModel::model);
                let model = models.for_phase(instruction.phase()).or(own);
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
            Self::Wait { until } => vec![("waits until", format_time(*until))],
            Self::Hold => vec![("holds", "until a person resumes it".to_owned())],
            Self::Finish { why, .. } => vec![("ends at once", why.clone())],
            Self::Unknown => Vec::new(),
        }
    }
}
