//! Sessions played from start to end.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use autonoe_core::StreamEvent;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::event::Events;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::ToolStatus;
use futures::FutureExt;
use serde_json::Value;

use super::Scenario;
use super::fixture::{Fixture, GateMode, Session, Subject, dispose, prompt, read};
use super::record::RecordEntry;
use crate::conformance::checks::{CheckOutcome, Flaw, panicked};

/// A played session: the result of its turn, and everything that happened.
pub(super) struct PlayedSession {
    pub(super) label: &'static str,
    pub(super) key: SessionKey,
    pub(super) cwd: PathBuf,
    pub(super) events: Events,
    pub(super) turn: CheckOutcome,
    pub(super) disposal: CheckOutcome,
    pub(super) log: Vec<RecordEntry>,
}

/// A call in the stream.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    pub(super) at: usize,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
}

/// A response in the stream.
#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) at: usize,
    pub(super) id: &'a str,
    pub(super) output: &'a str,
    pub(super) status: ToolStatus,
}

/// Plays one session of `scenario`.
///
/// A turn that hangs or panics is a separate finding: the session is still returned, with
/// everything that happened until then.
pub(super) async fn play(
    subject: &Subject<'_>,
    label: &'static str,
    scenario: &Scenario,
    gate: GateMode,
) -> CheckOutcome<PlayedSession> {
    let playing = AssertUnwindSafe(async {
        let mut fixture = Fixture::new(subject, scenario).await?;
        let limit = fixture.limit;
        let Session {
            mut client,
            record,
            key,
            cwd,
            events,
        } = fixture.session(gate)?;
        let turn = AssertUnwindSafe(async {
            let mut stream = client.query(prompt());
            read(&mut stream, &record, limit).await
        });
        let turn = turn
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| Err(panicked(panic)));
        let disposal = AssertUnwindSafe(dispose(client, limit))
            .catch_unwind()
            .await;
        let disposal = disposal.unwrap_or_else(|panic| Err(panicked(panic)));
        Ok(PlayedSession {
            label,
            key,
            cwd,
            events,
            turn,
            disposal,
            log: record.all(),
        })
    });
    let played = playing.catch_unwind().await;
    // The process check reports the result.
    let _ = subject.check_leftover_processes(label).await;
    played.unwrap_or_else(|panic| Err(panicked(panic)))
}

impl PlayedSession {
    /// Returns the items of the stream, errors as text.
    pub(super) fn items(&self) -> impl Iterator<Item = Result<&StreamEvent, &str>> {
        self.log.iter().filter_map(|entry| match entry {
            RecordEntry::Streamed(event) => Some(Ok(event)),
            RecordEntry::Failed(error) => Some(Err(error.as_str())),
            _ => None,
        })
    }

    /// Returns the outcome of the turn, if the stream reported one.
    pub(super) fn outcome(&self) -> Option<&SessionOutcome> {
        self.items().find_map(|item| match item {
            Ok(StreamEvent::End { outcome, .. }) => Some(outcome),
            _ => None,
        })
    }

    pub(super) fn invocations(&self) -> Vec<Invocation<'_>> {
        let log = self.log.iter().enumerate();
        log.filter_map(|(at, entry)| match entry {
            RecordEntry::Streamed(StreamEvent::ToolInvocation {
                call_id,
                name,
                input,
                ..
            }) => Some(Invocation {
                at,
                id: call_id,
                name,
                input,
            }),
            _ => None,
        })
        .collect()
    }

    pub(super) fn responses(&self) -> Vec<Response<'_>> {
        let log = self.log.iter().enumerate();
        log.filter_map(|(at, entry)| match entry {
            RecordEntry::Streamed(StreamEvent::ToolResponse {
                call_id,
                output,
                status,
                ..
            }) => Some(Response {
                at,
                id: call_id,
                output,
                status: *status,
            }),
            _ => None,
        })
        .collect()
    }

    /// Returns the response to the call with this id.
    ///
    /// Another check reports a missing response; without it, this check is untestable.
    pub(super) fn response_to(&self, id: &str) -> CheckOutcome<Response<'_>> {
        self.responses()
            .into_iter()
            .find(|response| response.id == id)
            .ok_or_else(|| {
                Flaw::Untestable(format!("{}: there is no answer to call {id:?}", self.label))
            })
    }

    /// Returns the inputs of the probe tool's calls, in order.
    pub(super) fn runs(&self) -> Vec<(&SessionKey, &Value)> {
        self.log
            .iter()
            .filter_map(|entry| match entry {
                RecordEntry::ToolStarted { session, input } => Some((session, input)),
                _ => None,
            })
            .collect()
    }
}
