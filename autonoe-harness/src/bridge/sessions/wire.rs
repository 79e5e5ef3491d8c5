//! What is said between who wants a session and who carries it out.

use autonoe_core::{
    Epoch, Failure, HostedOutcome, HostedSession, LedgerView, RunId, RunProgress, RunReport,
    SessionHostError, SessionKey,
};
use serde::{Deserialize, Serialize};

use crate::bridge::hello::Protocol;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "autonoe-session-host",
    version: 1,
};

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum SessionAsk {
    /// For the epoch with which a run takes over.
    Claim { run: RunId },
    /// For the numbers of the ledger.
    Look { run: RunId },
    /// For what a session came to.
    AttachOrStart {
        key: SessionKey,
        epoch: Epoch,
        session: HostedSession,
        /// Whether it was cancelled before it was asked for: then only what is recorded is told.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cancelled: bool,
    },
    /// That the end of a run is written down.
    Conclude {
        epoch: Epoch,
        report: Box<RunReport>,
    },
    /// That the session that was asked for is ended.
    Cancel,
}

/// What can be told: beats, and then one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SessionTell {
    /// How far the session is.
    Beat(RunProgress),
    /// The epoch with which a run takes over.
    Claimed(Epoch),
    /// The numbers of the ledger.
    Ledger(LedgerView),
    /// What the session came to, as it was recorded.
    Outcome(HostedOutcome),
    /// The end of the run is written down, or needs not be.
    Concluded,
    /// Another has taken over.
    Fenced { asked: Epoch, latest: Epoch },
    /// It was cancelled before it began.
    Cancelled,
    /// It failed, and nothing is recorded.
    Failed(Failure),
}

impl From<SessionHostError> for SessionTell {
    fn from(error: SessionHostError) -> Self {
        match error {
            SessionHostError::Fenced { asked, latest } => Self::Fenced { asked, latest },
            SessionHostError::Cancelled(_) => Self::Cancelled,
            SessionHostError::Failed { failure, .. } => Self::Failed(failure),
            error => Self::Failed(Failure::retryable("session_host", error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{
        CostTotal, ExitReason, InstructionName, Mode, RunLimits, RunMachine, TokenUsage,
    };
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::bridge::asked::{Asked, Told};

    fn key() -> SessionKey {
        SessionKey {
            run: RunId::new("shop"),
            number: 3,
        }
    }

    #[test]
    fn questions_are_written_as_documented() {
        let attach = SessionAsk::AttachOrStart {
            key: key(),
            epoch: Epoch(2),
            session: HostedSession::new(InstructionName::Coding).told("The tests come first."),
            cancelled: false,
        };
        let run = RunId::new("shop");
        let machine = RunMachine::new(RunLimits::new(Mode::Run));
        let report = machine.report(&run, ExitReason::AllPassed, Timestamp::UNIX_EPOCH);
        let conclude = SessionAsk::Conclude {
            epoch: Epoch(2),
            report: Box::new(report),
        };
        let lines = [
            (
                SessionAsk::Claim { run: run.clone() },
                json!({"id": 1, "ask": {"claim": {"run": "shop"}}}),
            ),
            (
                SessionAsk::Look { run },
                json!({"id": 1, "ask": {"look": {"run": "shop"}}}),
            ),
            (
                attach,
                json!({"id": 1, "ask": {"attachOrStart": {
                    "key": {"run": "shop", "number": 3},
                    "epoch": 2,
                    "session": {
                        "instruction": "coding",
                        "messages": ["The tests come first."],
                        "budget": serde_json::to_value(autonoe_core::Budget::default())
                            .expect("it serialises"),
                    },
                }}}),
            ),
            (
                conclude,
                json!({"id": 1, "ask": {"conclude": {
                    "epoch": 2,
                    "report": {
                        "run": "shop",
                        "exitReason": "all_passed",
                        "iterations": 0,
                        "sessions": 0,
                        "totalDurationMs": 0,
                        "totalCost": serde_json::to_value(CostTotal::default())
                            .expect("it serialises"),
                        "tokens": serde_json::to_value(TokenUsage::default())
                            .expect("it serialises"),
                    },
                }}}),
            ),
            (SessionAsk::Cancel, json!({"id": 1, "ask": "cancel"})),
        ];
        for (ask, expected) in lines {
            let line = Asked { id: 1, ask };

            let written = serde_json::to_value(&line).expect("it serialises");

            assert_eq!(written, expected);
            let read: Asked<SessionAsk> = serde_json::from_value(written).expect("it is read");
            assert_eq!(read, line);
        }
    }

    #[test]
    fn what_is_not_understood_of_a_question_is_refused() {
        for line in [
            json!({"id": 1, "ask": {"claim": {"run": "shop", "force": true}}}),
            json!({"id": 1, "ask": {"claim": {"run": "shop"}}, "force": true}),
            json!({"id": 1, "ask": {"steal": {"run": "shop"}}}),
            json!({"ask": "cancel"}),
        ] {
            let read = serde_json::from_value::<Asked<SessionAsk>>(line.clone());

            assert!(read.is_err(), "{line}");
        }
    }

    #[test]
    fn answers_are_written_as_documented() {
        for (tell, expected) in [
            (
                SessionTell::Claimed(Epoch(4)),
                json!({"id": 1, "tell": {"claimed": 4}}),
            ),
            (
                SessionTell::Concluded,
                json!({"id": 1, "tell": "concluded"}),
            ),
            (
                SessionTell::from(SessionHostError::Fenced {
                    asked: Epoch(4),
                    latest: Epoch(5),
                }),
                json!({"id": 1, "tell": {"fenced": {"asked": 4, "latest": 5}}}),
            ),
            (
                SessionTell::from(SessionHostError::Cancelled(key())),
                json!({"id": 1, "tell": "cancelled"}),
            ),
            (
                SessionTell::from(SessionHostError::Failed {
                    key: key(),
                    failure: Failure::permanent("project_unusable", "it is not there"),
                }),
                json!({"id": 1, "tell": {"failed": {
                    "code": "project_unusable",
                    "message": "it is not there",
                    "retry": "useless",
                }}}),
            ),
        ] {
            let line = Told { id: 1, tell };

            let written = serde_json::to_value(&line).expect("it serialises");

            assert_eq!(written, expected);
            let read: Told<SessionTell> = serde_json::from_value(written).expect("it is read");
            assert_eq!(read, line);
        }
    }

    #[test]
    fn what_a_later_program_tells_beside_an_answer_is_passed_over() {
        let line = json!({"id": 1, "tell": {"claimed": 4}, "since": "noon"});

        let read: Told<SessionTell> = serde_json::from_value(line).expect("it is read");

        assert_eq!(read.tell, SessionTell::Claimed(Epoch(4)));
    }
}
