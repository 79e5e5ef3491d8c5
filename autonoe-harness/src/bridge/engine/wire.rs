//! What is said between who wants runs and the engine that drives them.

use std::error::Error;

use autonoe_core::{EngineError, Placement, RunId, RunInstruction, RunOutcome, RunSpec, RunView};
use serde::{Deserialize, Serialize};

use crate::bridge::hello::Protocol;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "autonoe-engine",
    version: 1,
};

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum EngineAsk {
    Submit {
        run: RunSpec,
        place: Placement,
    },
    Cancel {
        run: RunId,
        reason: String,
    },
    Instruct {
        run: RunId,
        instruction: RunInstruction,
    },
    Status {
        run: RunId,
    },
    Wait {
        run: RunId,
    },
    /// Nobody waits for the answer to the question of that number any more.
    Forget,
}

/// What can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum EngineTell {
    /// A run was taken.
    Submitted(RunId),
    /// It was done.
    Done,
    /// How a run stands.
    View(Box<RunView>),
    /// What a run came to.
    Outcome(RunOutcome),
    /// It was not done.
    Error(ToldError),
}

/// An [`EngineError`] that travels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum ToldError {
    Unknown {
        run: RunId,
    },
    Conflict {
        run: RunId,
    },
    Ended {
        run: RunId,
    },
    Refused {
        run: RunId,
        reason: String,
    },
    Failed {
        reason: String,
        /// What went wrong there, and what behind it.
        #[serde(default)]
        causes: Vec<String>,
    },
    Gone {
        reason: String,
        #[serde(default)]
        causes: Vec<String>,
    },
}

impl From<EngineError> for ToldError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Unknown(run) => Self::Unknown { run },
            EngineError::Conflict(run) => Self::Conflict { run },
            EngineError::Ended(run) => Self::Ended { run },
            EngineError::Refused { run, reason } => Self::Refused { run, reason },
            EngineError::Failed { reason, source } => Self::Failed {
                reason,
                causes: source.map(|source| causes(&*source)).unwrap_or_default(),
            },
            EngineError::Gone { reason, source } => Self::Gone {
                reason,
                causes: source.map(|source| causes(&*source)).unwrap_or_default(),
            },
            error => Self::Failed {
                reason: error.to_string(),
                causes: error.source().map(causes).unwrap_or_default(),
            },
        }
    }
}

impl From<ToldError> for EngineError {
    fn from(told: ToldError) -> Self {
        match told {
            ToldError::Unknown { run } => Self::Unknown(run),
            ToldError::Conflict { run } => Self::Conflict(run),
            ToldError::Ended { run } => Self::Ended(run),
            ToldError::Refused { run, reason } => Self::Refused { run, reason },
            ToldError::Failed { reason, causes } => Self::Failed {
                reason,
                source: Cause::of(causes).map(Into::into),
            },
            ToldError::Gone { reason, causes } => Self::Gone {
                reason,
                source: Cause::of(causes).map(Into::into),
            },
        }
    }
}

fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let chain = std::iter::successors(Some(error), |error| Error::source(*error));
    chain.map(ToString::to_string).collect()
}

/// What went wrong elsewhere, in the words of who was there.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(super) struct Cause {
    what: String,
    source: Option<Box<Cause>>,
}

impl Cause {
    pub(super) fn of(
        causes: impl IntoIterator<Item = String, IntoIter: DoubleEndedIterator>,
    ) -> Option<Box<Self>> {
        let causes = causes.into_iter().rev();
        causes.fold(None, |source, what| Some(Box::new(Self { what, source })))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bridge::asked::{Asked, Told};

    #[test]
    fn questions_are_written_as_documented() {
        let run = || RunId::new("shop");
        for (ask, expected) in [
            (
                EngineAsk::Submit {
                    run: RunSpec::new(run(), "sessions", json!({"project": "shop"})),
                    place: Placement::on("build-1"),
                },
                json!({"id": 7, "ask": {"submit": {
                    "run": {"id": "shop", "job": "sessions", "input": {"project": "shop"}},
                    "place": {"host": "build-1"},
                }}}),
            ),
            (
                EngineAsk::Cancel {
                    run: run(),
                    reason: "enough".to_owned(),
                },
                json!({"id": 7, "ask": {"cancel": {"run": "shop", "reason": "enough"}}}),
            ),
            (
                EngineAsk::Instruct {
                    run: run(),
                    instruction: RunInstruction::Say("hello".to_owned()),
                },
                json!({"id": 7, "ask": {"instruct": {"run": "shop", "instruction": {"say": "hello"}}}}),
            ),
            (
                EngineAsk::Status { run: run() },
                json!({"id": 7, "ask": {"status": {"run": "shop"}}}),
            ),
            (
                EngineAsk::Wait { run: run() },
                json!({"id": 7, "ask": {"wait": {"run": "shop"}}}),
            ),
            (EngineAsk::Forget, json!({"id": 7, "ask": "forget"})),
        ] {
            let line = Asked { id: 7, ask };

            let written = serde_json::to_value(&line).expect("it serialises");

            assert_eq!(written, expected);
            let read: Asked<EngineAsk> = serde_json::from_value(written).expect("it is read");
            assert_eq!(read, line);
        }
    }

    #[test]
    fn answers_are_written_as_documented() {
        let run = || RunId::new("shop");
        let nothing = || autonoe_core::Spent::default();
        for (tell, expected) in [
            (EngineTell::Submitted(run()), json!({"submitted": "shop"})),
            (EngineTell::Done, json!("done")),
            (
                EngineTell::View(Box::new(RunView::new(run()))),
                json!({"view": {
                    "id": "shop",
                    "phase": "waiting",
                    "progress": 0.0,
                    "iteration": 0,
                    "spent": serde_json::to_value(nothing()).expect("it serialises"),
                }}),
            ),
            (
                EngineTell::Outcome(RunOutcome::cancelled("enough")),
                json!({"outcome": {
                    "ending": "cancelled",
                    "reason": "enough",
                    "output": null,
                    "spent": serde_json::to_value(nothing()).expect("it serialises"),
                }}),
            ),
            (
                EngineTell::Error(EngineError::Conflict(run()).into()),
                json!({"error": {"kind": "conflict", "run": "shop"}}),
            ),
            (
                EngineTell::Error(ToldError::Gone {
                    reason: "it died".to_owned(),
                    causes: vec!["out of memory".to_owned()],
                }),
                json!({"error": {
                    "kind": "gone",
                    "reason": "it died",
                    "causes": ["out of memory"],
                }}),
            ),
        ] {
            let line = Told { id: 7, tell };

            let written = serde_json::to_value(&line).expect("it serialises");

            assert_eq!(written, json!({"id": 7, "tell": expected}));
            let read: Told<EngineTell> = serde_json::from_value(written).expect("it is read");
            assert_eq!(read, line);
        }
    }

    #[test]
    fn errors_survive_the_trip() {
        let run = || RunId::new("shop");
        let cause = || Cause::of(["no server".to_owned(), "connection refused".to_owned()]);
        for error in [
            EngineError::Unknown(run()),
            EngineError::Conflict(run()),
            EngineError::Ended(run()),
            EngineError::Refused {
                run: run(),
                reason: "not here".to_owned(),
            },
            EngineError::Failed {
                reason: "asking".to_owned(),
                source: cause().map(Into::into),
            },
            EngineError::Gone {
                reason: "it died".to_owned(),
                source: cause().map(Into::into),
            },
        ] {
            let words = format!("{error:?}");

            let line = serde_json::to_string(&ToldError::from(error)).expect("it serialises");
            let told: ToldError = serde_json::from_str(&line).expect("it is read");

            assert_eq!(format!("{:?}", EngineError::from(told)), words);
        }
    }
}
