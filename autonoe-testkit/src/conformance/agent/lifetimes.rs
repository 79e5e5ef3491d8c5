//! Checks of how sessions progress and how they are stopped.

use std::pin::pin;

use autonoe_core::{AgentClient, StreamEvent};
use futures::{StreamExt, future};
use tokio_util::sync::CancellationToken;

use super::fixture::{
    Fixture, GateMode, Session, Subject, dispose, is_gate_call, is_tool_start, prompt, read,
    read_until,
};
use super::record::RecordEntry;
use super::sessions::text_scenario;
use super::{AgentHarness, Scenario, probe_tool};
use crate::conformance::checks::{CheckOutcome, Flaw, within};

/// Reads the call from the stream, stops polling, and waits until the tool has run nevertheless.
pub(super) async fn progress_without_polling(
    subject: &Subject<'_>,
    scenario: &Scenario,
) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, scenario).await?;
    let limit = fixture.limit;
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::Open)?;
    {
        let mut stream = client.query(prompt());
        let is_call = |event: &StreamEvent| matches!(event, StreamEvent::ToolInvocation { .. });
        read_until(&mut stream, &record, limit, "a tool call", is_call).await?;
        match scenario {
            Scenario::UsesTools { .. } => {
                record
                    .wait_for(limit, "the tool, with nobody polling,", is_tool_start)
                    .await?;
            }
            _ => {
                record
                    .wait_for(limit, "the gate, with nobody polling,", is_gate_call)
                    .await?;
            }
        }
        read(&mut stream, &record, limit).await?;
    }
    let _ = dispose(client, limit).await;
    Ok(())
}

/// Stops polling while the gate decides, and waits until the tool has run nevertheless.
pub(super) async fn progress_behind_a_slow_gate(
    subject: &Subject<'_>,
    scenario: &Scenario,
) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, scenario).await?;
    let limit = fixture.limit;
    let answers = CancellationToken::new();
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::OpenAfter(answers.clone()))?;
    {
        let mut stream = client.query(prompt());
        {
            let gate_call = pin!(record.wait_for(limit, "the gate", is_gate_call));
            let polled = pin!(read_until(&mut stream, &record, limit, "an end", |_| false));
            match future::select(gate_call, polled).await {
                future::Either::Left((gate_call, _)) => gate_call?,
                // Another check reports that the gate was not called.
                future::Either::Right(_) => return Ok(()),
            }
        }
        answers.cancel();
        record
            .wait_for(limit, "the tool, with nobody polling,", is_tool_start)
            .await?;
    }
    let _ = dispose(client, limit).await;
    Ok(())
}

pub(super) async fn dispose_without_a_turn(subject: &Subject<'_>) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, &Scenario::Hangs).await?;
    let client = fixture.session(GateMode::Open)?.client;
    dispose(client, fixture.limit).await
}

/// Sessions that were stopped in the middle: by dropping the client, by dropping the disposal, and
/// by dropping the stream before a disposal.
pub(super) struct StoppedSessions {
    /// Whether each of them started, whatever the previous one left behind.
    pub(super) starts: CheckOutcome,
    /// The disposal after the dropped stream.
    pub(super) disposal: CheckOutcome,
    /// Whether a process is left, for each session that started.
    pub(super) processes: Vec<CheckOutcome>,
}

/// Stops three sessions in the middle, each in another way, and looks for their processes.
pub(super) async fn stop_sessions(subject: &Subject<'_>) -> CheckOutcome<StoppedSessions> {
    let mut fixture = Fixture::new(subject, &Scenario::Hangs).await?;
    let limit = fixture.limit;
    let mut stopped = StoppedSessions {
        starts: Ok(()),
        disposal: Err(Flaw::Untestable("its session did not start".into())),
        processes: Vec::new(),
    };
    for way in ["dropped client", "dropped disposal", "dropped stream"] {
        let client = match hanging(&mut fixture).await {
            Ok(client) => client,
            Err(flaw) => {
                stopped.starts = Err(flaw);
                break;
            }
        };
        match way {
            "dropped client" => drop(client),
            "dropped disposal" => {
                let mut disposal = client.dispose();
                let _ = futures::poll!(&mut disposal);
            }
            _ => stopped.disposal = dispose(client, limit).await,
        }
        stopped
            .processes
            .push(subject.check_leftover_processes(way).await);
    }
    Ok(stopped)
}

/// Returns the client of a session that hangs during its turn.
async fn hanging(fixture: &mut Fixture<'_>) -> CheckOutcome<Box<dyn AgentClient>> {
    let limit = fixture.limit;
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::Open)?;
    let mut stream = client.query(prompt());
    read_until(&mut stream, &record, limit, "a first sign", |_| true).await?;
    drop(stream);
    Ok(client)
}

/// Drops the stream while the tool of the suite runs.
pub(super) async fn a_running_tool_ends(subject: &Subject<'_>) -> CheckOutcome {
    let scenario = Scenario::UsesTools {
        calls: vec![probe_tool::waits()],
    };
    let mut fixture = Fixture::new(subject, &scenario).await?;
    let limit = fixture.limit;
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::Open)?;
    {
        let mut stream = client.query(prompt());
        let reading = async {
            while let Some(item) = stream.next().await {
                record.push_item(item);
            }
            Err(Flaw::Failed(
                "the turn ended while the tool was running".into(),
            ))
        };
        let running = record.wait_for(limit, "the tool", is_tool_start);
        let either = future::select(Box::pin(reading), Box::pin(running)).await;
        either.factor_first().0?;
    }
    let is_over = |entry: &RecordEntry| matches!(entry, RecordEntry::ToolEnded);
    let ended = record.wait_for(limit, "the end of the tool", is_over).await;
    let _ = dispose(client, limit).await;
    ended
}

/// Runs two sessions of one factory concurrently.
pub(super) async fn side_by_side(subject: &Subject<'_>, scenario: &Scenario) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, scenario).await?;
    let limit = fixture.limit;
    let Session {
        client: mut one,
        record: first,
        key: one_key,
        ..
    } = fixture.session(GateMode::Open)?;
    let Session {
        client: mut other,
        record: second,
        key: other_key,
        ..
    } = fixture.session(GateMode::Open)?;
    {
        let (mut left, mut right) = (one.query(prompt()), other.query(prompt()));
        let any = |_: &StreamEvent| true;
        // The first is in the middle of its turn while the second runs from start to end.
        read_until(
            &mut left,
            &first,
            limit,
            "a first sign of the first session",
            any,
        )
        .await?;
        read_until(
            &mut right,
            &second,
            limit,
            "a first sign of the second session",
            any,
        )
        .await?;
        read(&mut right, &second, limit).await?;
        read(&mut left, &first, limit).await?;
    }
    let _ = dispose(one, limit).await;
    let _ = dispose(other, limit).await;
    for (record, key) in [(first, one_key), (second, other_key)] {
        let mut ended = false;
        for entry in record.all() {
            let session = match &entry {
                RecordEntry::GateCalled(call) => &call.session,
                RecordEntry::ToolStarted { session, .. } => session,
                RecordEntry::Streamed(StreamEvent::End { .. }) => {
                    ended = true;
                    continue;
                }
                _ => continue,
            };
            ensure!(
                *session == key,
                "something of session {session} happened in {key}"
            );
        }
        ensure!(ended, "session {key} did not come to its End");
    }
    Ok(())
}

pub(super) async fn probes_alike(harness: &dyn AgentHarness) -> CheckOutcome {
    let agents = harness
        .agents(&text_scenario())
        .await
        .ok_or_else(|| Flaw::Untestable("the harness has no agents at all".into()))?;
    let limit = harness.time_limit();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let found = within(limit, "probe", agents.probe()).await?;
        seen.push(found.map_err(|error| format!("probe failed: {error}"))?);
    }
    ensure!(
        seen[0] == seen[1],
        "first {:?}\nthen {:?}",
        seen[0],
        seen[1]
    );
    ensure!(
        !seen[0].backend.trim().is_empty(),
        "the name of the backend is blank"
    );
    Ok(())
}
