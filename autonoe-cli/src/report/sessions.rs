//! Table of the sessions.

use autonoe_app::text::no_progress;
use autonoe_core::agent::{SessionEnd, SessionOutcome};
use autonoe_core::project::SessionSpan;
use autonoe_core::time::format_duration;
use maud::{Markup, html};

use super::facts::{Facts, RunState};
use super::format::{capitalize, machine_time, offset, total};
use super::scale::since;
use super::untrusted_text::{foreign, inline};

pub(super) fn section(facts: &Facts) -> Markup {
    let sessions = &facts.timeline.sessions;
    html! {
        section.panel aria-labelledby="sessions" {
            h2 #sessions { "Sessions" }
            @if sessions.is_empty() {
                p.muted { "No session was started." }
            } @else {
                div.scroll role="region" aria-labelledby="sessions" tabindex="0" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Session" }
                                th scope="col" { "Instruction" }
                                th scope="col" { "Start" }
                                th.number scope="col" { "Duration" }
                                th.number scope="col" { "Cost" }
                                th.number scope="col" { "Changes" }
                                th.number scope="col" { "Denied" }
                                th scope="col" { "End" }
                            }
                        }
                        tbody { @for session in sessions { (row(session, facts)) } }
                    }
                }
            }
        }
    }
}

fn row(session: &SessionSpan, facts: &Facts) -> Markup {
    let timeline = &facts.timeline;
    let duration = session.until.map(|until| since(session.from, until));
    html! {
        tr {
            th scope="row" { (session.number) }
            td { (inline(&session.instruction.to_string())) }
            td {
                time datetime=(machine_time(session.from)) { (offset(timeline.from, session.from)) }
            }
            td.number { @if let Some(duration) = duration { (format_duration(duration)) } @else { "–" } }
            td.number {
                @match &session.result {
                    Some(result) => (total(result.cost)),
                    None => "unknown",
                }
            }
            td.number { (session.changes) }
            td.number { (session.denied) }
            td.wide { (end(session, facts)) }
        }
    }
}

fn end(session: &SessionSpan, facts: &Facts) -> Markup {
    let (class, sign, text) = match &session.result {
        Some(result) => {
            let (class, sign) = match &result.end {
                _ if result.flaw.is_some() => ("bad", "✕"),
                SessionEnd::Outcome(SessionOutcome::Completed) => ("good", "✓"),
                SessionEnd::Failed { .. }
                | SessionEnd::Outcome(SessionOutcome::ExecutionError { .. }) => ("bad", "✕"),
                SessionEnd::BudgetSpent { .. }
                | SessionEnd::Cancelled
                | SessionEnd::Outcome(
                    SessionOutcome::MaxTurns
                    | SessionOutcome::BudgetExceeded
                    | SessionOutcome::QuotaExceeded { .. }
                    | SessionOutcome::Interrupted,
                ) => ("warn", "■"),
            };
            (class, sign, result.to_string())
        }
        None if session.until.is_none() && facts.run_state == RunState::InProgress => {
            ("busy", "▶", "in progress".to_owned())
        }
        None => ("bad", "✕", "lost because its process ended".to_owned()),
    };
    let text = match session.result.as_ref().and_then(no_progress) {
        Some(no_progress) => format!("{text}, {no_progress}"),
        None => text,
    };
    html! {
        span class={ "sign " (class) } aria-hidden="true" { (sign) } " " (foreign(&capitalize(&text)))
    }
}
