//! How sessions go on and how they are ended.

use std::pin::pin;

use autonoe_core::{AgentClient, StreamEvent};
use futures::{StreamExt, future};
use tokio_util::sync::CancellationToken;

use super::harness::{AgentHarness, Scenario};
use super::probe_tool;
use super::record::Happening;
use super::sessions::says;
use super::stand::Subject;
use super::stand::{GateIs, Session, Stand, dispose, is_asked, is_ran, prompt, read, read_until};
use crate::conformance::checks::{Finding, Flaw, within};

/// Looks at the call in the stream, looks away, and waits for the tool to run all the same.
pub(super) async fn progress_without_polling(
    subject: &Subject<'_>,
    scenario: &Scenario,
) -> Finding {
    let mut stand = Stand::of(subject, scenario).await?;
    let limit = stand.limit;
    let Session {
        mut client, record, ..
    } = stand.session(GateIs::Open)?;
    {
        let mut stream = client.query(prompt());
        let is_call = |event: &StreamEvent| matches!(event, StreamEvent::ToolInvocation { .. });
        read_until(&mut stream, &record, limit, "a tool call", is_call).await?;
        match scenario {
            Scenario::UsesTools { .. } => {
                record
                    .wait_for(limit, "the tool, with nobody polling,", is_ran)
                    .await?;
            }
            _ => {
                record
                    .wait_for(limit, "the gate, with nobody polling,", is_asked)
                    .await?;
            }
        }
        read(&mut stream, &record, limit).await?;
    }
    let _ = dispose(client, limit).await;
    Ok(())
}

/// Looks away while the gate thinks, and waits for the tool to run all the same.
pub(super) async fn progress_behind_a_slow_gate(
    subject: &Subject<'_>,
    scenario: &Scenario,
) -> Finding {
    let mut stand = Stand::of(subject, scenario).await?;
    let limit = stand.limit;
    let answers = CancellationToken::new();
    let Session {
        mut client, record, ..
    } = stand.session(GateIs::OpenAfter(answers.clone()))?;
    {
        let mut stream = client.query(prompt());
        {
            let asked = pin!(record.wait_for(limit, "the gate", is_asked));
            let polled = pin!(read_until(&mut stream, &record, limit, "an end", |_| false));
            match future::select(asked, polled).await {
                future::Either::Left((asked, _)) => asked?,
                // That the gate is not asked is told by another check.
                future::Either::Right(_) => return Ok(()),
            }
        }
        answers.cancel();
        record
            .wait_for(limit, "the tool, with nobody polling,", is_ran)
            .await?;
    }
    let _ = dispose(client, limit).await;
    Ok(())
}

pub(super) async fn dispose_without_a_turn(subject: &Subject<'_>) -> Finding {
    let mut stand = Stand::of(subject, &Scenario::Hangs).await?;
    let client = stand.session(GateIs::Open)?.client;
    dispose(client, stand.limit).await
}

/// Sessions that were stopped in the middle: a dropped client, a dropped disposal, and a dropped
/// stream with a disposal after it.
pub(super) struct StoppedSessions {
    /// Whether each of them started, whatever the one before left.
    pub(super) starts: Finding,
    /// The disposal after the dropped stream.
    pub(super) disposal: Finding,
    /// Whether a process is left, for each session that started.
    pub(super) processes: Vec<Finding>,
}

/// Stops three sessions in the middle, each in another way, and looks for their processes.
pub(super) async fn stop_sessions(subject: &Subject<'_>) -> Finding<StoppedSessions> {
    let mut stand = Stand::of(subject, &Scenario::Hangs).await?;
    let limit = stand.limit;
    let mut stopped = StoppedSessions {
        starts: Ok(()),
        disposal: Err(Flaw::Untestable("its session did not start".into())),
        processes: Vec::new(),
    };
    for way in ["dropped client", "dropped disposal", "dropped stream"] {
        let client = match hanging(&mut stand).await {
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
            .push(subject.look_for_survivors(way).await);
    }
    Ok(stopped)
}

/// Returns the client of a session that hangs in its turn.
async fn hanging(stand: &mut Stand<'_>) -> Finding<Box<dyn AgentClient>> {
    let limit = stand.limit;
    let Session {
        mut client, record, ..
    } = stand.session(GateIs::Open)?;
    let mut stream = client.query(prompt());
    read_until(&mut stream, &record, limit, "a first sign", |_| true).await?;
    drop(stream);
    Ok(client)
}

/// Drops the stream while our tool runs.
pub(super) async fn a_running_tool_ends(subject: &Subject<'_>) -> Finding {
    let scenario = Scenario::UsesTools {
        calls: vec![probe_tool::waits()],
    };
    let mut stand = Stand::of(subject, &scenario).await?;
    let limit = stand.limit;
    let Session {
        mut client, record, ..
    } = stand.session(GateIs::Open)?;
    {
        let mut stream = client.query(prompt());
        let reading = async {
            while let Some(item) = stream.next().await {
                record.note_item(item);
            }
            Err(Flaw::Failed(
                "the turn ended while the tool was running".into(),
            ))
        };
        let running = record.wait_for(limit, "the tool", is_ran);
        let either = future::select(Box::pin(reading), Box::pin(running)).await;
        either.factor_first().0?;
    }
    let is_over = |happening: &Happening| matches!(happening, Happening::Over);
    let ended = record.wait_for(limit, "the end of the tool", is_over).await;
    let _ = dispose(client, limit).await;
    ended
}

/// Lets two sessions of one factory take turns.
pub(super) async fn side_by_side(subject: &Subject<'_>, scenario: &Scenario) -> Finding {
    let mut stand = Stand::of(subject, scenario).await?;
    let limit = stand.limit;
    let Session {
        client: mut one,
        record: first,
        key: one_key,
        ..
    } = stand.session(GateIs::Open)?;
    let Session {
        client: mut other,
        record: second,
        key: other_key,
        ..
    } = stand.session(GateIs::Open)?;
    {
        let (mut left, mut right) = (one.query(prompt()), other.query(prompt()));
        let any = |_: &StreamEvent| true;
        // The first is in the middle of its turn while the second goes from its start to its end.
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
        for happening in record.all() {
            let session = match &happening {
                Happening::Asked(call) => &call.session,
                Happening::Ran { session, .. } => session,
                Happening::Saw(StreamEvent::End { .. }) => {
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

pub(super) async fn probes_alike(harness: &dyn AgentHarness) -> Finding {
    let agents = harness
        .agents(&says())
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
