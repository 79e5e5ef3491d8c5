//! What is said of events of a fleet, to people.

use crate::words::counted;
use crate::{Alert, FleetEvent, FleetEventKind, Member, Severity};

/// Says what happened in a line.
pub(super) fn line_of(kind: &FleetEventKind) -> String {
    match kind {
        FleetEventKind::Began { strategy, members } => {
            let members = counted(members.len(), "member");
            format!("{strategy} begins with {members}")
        }
        FleetEventKind::Started { member, .. } => format!("{member} started"),
        FleetEventKind::FoundAgain { member, .. } => format!("{member} found again"),
        FleetEventKind::WaitsForMoney { member, why } => format!("{member} waits: {why}"),
        FleetEventKind::Paused => "paused".to_owned(),
        FleetEventKind::Resumed => "resumed".to_owned(),
        FleetEventKind::Stopping { member, why } => format!("{member} is stopped: {why}"),
        FleetEventKind::Ended { result } => match (result.success, &result.error) {
            (true, _) => format!("{} succeeded", result.id),
            (false, Some(why)) => format!("{} failed: {why}", result.id),
            (false, None) => format!("{} failed", result.id),
        },
        FleetEventKind::CutShort { reason } => format!("cut short: {reason}"),
        FleetEventKind::Finished { success, winner } => match (success, winner) {
            (true, Some(winner)) => format!("succeeded, won by {winner}"),
            (true, None) => "succeeded".to_owned(),
            (false, _) => "not succeeded".to_owned(),
        },
    }
}

/// Says what somebody should know of an event, as `members` stand after it.
pub(super) fn alert_of(event: &FleetEvent, members: &[Member]) -> Option<Alert> {
    let fleet = &event.fleet;
    let say = |kind: &str, severity, message: String| {
        let alert = Alert::new(kind, severity, message, event.at);
        Some(alert.with("fleet", fleet.as_str()))
    };
    let about = |alert: Option<Alert>, member: &crate::HarnessId| {
        alert.map(|alert| alert.of(crate::HarnessId::new(format!("{fleet}.{member}"))))
    };
    match &event.kind {
        FleetEventKind::WaitsForMoney { member, why } => {
            let message = format!("{member} cannot be paid now: {why}");
            about(say("waits_for_money", Severity::Warning, message), member)
        }
        FleetEventKind::CutShort { reason } => {
            say("cut_short", Severity::Warning, reason.to_string())
        }
        FleetEventKind::Ended { result } if !result.success => {
            let why = result.error.as_deref().unwrap_or("it does not say why");
            let message = format!("{} did not succeed: {why}", result.id);
            about(say("member_failed", Severity::Error, message), &result.id)
        }
        FleetEventKind::Finished { success, .. } => {
            let done = members.iter().filter_map(Member::result);
            let done = done.filter(|result| result.success).count();
            let message = format!(
                "the fleet {fleet} has ended, {done} of {} succeeded",
                counted(members.len(), "member")
            );
            let severity = match success {
                true => Severity::Success,
                false => Severity::Error,
            };
            say("fleet_ended", severity, message)
        }
        _ => None,
    }
}
