//! Sessions that were played from beginning to end.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use autonoe_core::{Events, SessionKey, SessionOutcome, StreamEvent, ToolStatus};
use futures::FutureExt;
use serde_json::Value;

use super::harness::Scenario;
use super::record::Happening;
use super::stand::Subject;
use super::stand::{GateIs, Session, Stand, dispose, prompt, read};
use crate::conformance::checks::{Finding, Flaw, panicked};

/// A session that was played: what its turn came to, and all that happened.
pub(super) struct Played {
    pub(super) label: &'static str,
    pub(super) key: SessionKey,
    pub(super) cwd: PathBuf,
    pub(super) events: Events,
    pub(super) turn: Finding,
    pub(super) disposal: Finding,
    pub(super) log: Vec<Happening>,
}

/// A call as the stream shows it.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    pub(super) at: usize,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
}

/// An answer as the stream shows it.
#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) at: usize,
    pub(super) id: &'a str,
    pub(super) output: &'a str,
    pub(super) status: ToolStatus,
}

/// Plays one session of `scenario`.
///
/// A turn that hangs or panics is a finding of its own: the session is still
/// there, with what happened until then.
pub(super) async fn play(
    subject: &Subject<'_>,
    label: &'static str,
    scenario: &Scenario,
    gate: GateIs,
) -> Finding<Played> {
    let playing = AssertUnwindSafe(async {
        let mut stand = Stand::of(subject, scenario).await?;
        let limit = stand.limit;
        let Session {
            mut client,
            record,
            key,
            cwd,
            events,
        } = stand.session(gate)?;
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
        Ok(Played {
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
    // The check of processes reports what it found.
    let _ = subject.look_for_survivors(label).await;
    played.unwrap_or_else(|panic| Err(panicked(panic)))
}

impl Played {
    /// Returns the items of the stream, an error as its text.
    pub(super) fn items(&self) -> impl Iterator<Item = Result<&StreamEvent, &str>> {
        self.log.iter().filter_map(|happening| match happening {
            Happening::Saw(event) => Some(Ok(event)),
            Happening::Failed(error) => Some(Err(error.as_str())),
            _ => None,
        })
    }

    /// Returns how the turn ended, if the stream said so.
    pub(super) fn outcome(&self) -> Option<&SessionOutcome> {
        self.items().find_map(|item| match item {
            Ok(StreamEvent::End { outcome, .. }) => Some(outcome),
            _ => None,
        })
    }

    pub(super) fn invocations(&self) -> Vec<Invocation<'_>> {
        let log = self.log.iter().enumerate();
        log.filter_map(|(at, happening)| match happening {
            Happening::Saw(StreamEvent::ToolInvocation {
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
        log.filter_map(|(at, happening)| match happening {
            Happening::Saw(StreamEvent::ToolResponse {
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

    /// Returns the answer to the call with this id.
    ///
    /// That there is none is told by another check; here it cannot be seen what it says.
    pub(super) fn response_to(&self, id: &str) -> Finding<Response<'_>> {
        self.responses()
            .into_iter()
            .find(|response| response.id == id)
            .ok_or_else(|| {
                Flaw::Untestable(format!("{}: there is no answer to call {id:?}", self.label))
            })
    }

    /// Returns the inputs with which our tool ran, in order.
    pub(super) fn runs(&self) -> Vec<(&SessionKey, &Value)> {
        self.log
            .iter()
            .filter_map(|happening| match happening {
                Happening::Ran { session, input } => Some((session, input)),
                _ => None,
            })
            .collect()
    }
}
