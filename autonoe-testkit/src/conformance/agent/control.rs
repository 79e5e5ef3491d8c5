//! Checks of interrupting and steering a session.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, SessionControl, SessionOutcome};
use autonoe_core::{AgentError, StreamEvent};

use super::Scenario;
use super::fixture::{Fixture, GateMode, Session, Subject, dispose, prompt, read, read_until};
use super::record::RecordEntry;
use crate::conformance::checks::{CheckOutcome, Flaw, within};

/// Interrupts from another task, as a run does.
async fn interrupt(
    control: &Arc<dyn SessionControl>,
    limit: Duration,
) -> CheckOutcome<Result<(), AgentError>> {
    let control = control.clone();
    let request = tokio::spawn(async move { control.interrupt().await });
    within(limit, "interrupt", request)
        .await?
        .map_err(|error| Flaw::Failed(error.to_string()))
}

/// Steers from another task.
async fn steer(
    control: &Arc<dyn SessionControl>,
    limit: Duration,
) -> CheckOutcome<Result<(), AgentError>> {
    let control = control.clone();
    let request = tokio::spawn(async move { control.steer("hurry up").await });
    within(limit, "steer", request)
        .await?
        .map_err(|error| Flaw::Failed(error.to_string()))
}

pub(super) async fn interrupts(subject: &Subject<'_>) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, &Scenario::Hangs).await?;
    let limit = fixture.limit;
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::Open)?;
    let control = client.control();
    {
        let mut stream = client.query(prompt());
        read_until(&mut stream, &record, limit, "a first sign", |_| true).await?;
        match interrupt(&control, limit).await? {
            Ok(()) => read(&mut stream, &record, limit).await?,
            Err(error) if error.kind() == AgentErrorKind::Unsupported => {
                return Err(Flaw::Untestable(format!("the backend says: {error}")));
            }
            Err(error) => return Err(Flaw::Failed(format!("interrupt failed: {error}"))),
        }
    }
    let _ = dispose(client, limit).await;
    let log = record.all();
    let interrupted = log.iter().any(|entry| {
        let end = SessionOutcome::Interrupted;
        matches!(entry, RecordEntry::Streamed(StreamEvent::End { outcome, .. }) if *outcome == end)
    });
    ensure!(interrupted, "after an interruption the turn went: {log:?}");
    Ok(())
}

pub(super) async fn steers(subject: &Subject<'_>) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, &Scenario::Hangs).await?;
    let limit = fixture.limit;
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::Open)?;
    let control = client.control();
    let steered = {
        let mut stream = client.query(prompt());
        read_until(&mut stream, &record, limit, "a first sign", |_| true).await?;
        steer(&control, limit).await?
    };
    let _ = dispose(client, limit).await;
    match (steered, fixture.capabilities.steering.is_yes()) {
        (Ok(()), true) | (Err(_), false) => Ok(()),
        (Ok(()), false) => Err(Flaw::Failed(
            "a backend without steering reports that the message was delivered".into(),
        )),
        (Err(error), true) => Err(Flaw::Failed(format!("steer failed: {error}"))),
    }
}

/// Uses the control after the end of the turn, and after the client is dropped.
pub(super) async fn outlives_its_session(
    subject: &Subject<'_>,
    scenario: &Scenario,
) -> CheckOutcome {
    let mut fixture = Fixture::new(subject, scenario).await?;
    let limit = fixture.limit;
    let Session {
        mut client, record, ..
    } = fixture.session(GateMode::Open)?;
    let control = client.control();
    {
        let mut stream = client.query(prompt());
        read(&mut stream, &record, limit).await?;
    }
    // They may do nothing or fail.
    let _ = interrupt(&control, limit).await?;
    let _ = steer(&client.control(), limit).await?;
    let _ = dispose(client, limit).await;
    let _ = interrupt(&control, limit).await?;
    let _ = steer(&control, limit).await?;
    Ok(())
}
