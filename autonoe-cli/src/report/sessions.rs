//! Table of the sessions.

use autonoe_app::text::{Level, no_progress, session_level};
use autonoe_core::project::SessionSpan;
use autonoe_core::time::format_duration;
use maud::{Markup, html};

use super::facts::{Facts, RunState};
use super::format::{capitalize, machine_time, offset, total};
use super::panel::{Column, panel, table};
use super::scale::since;
use super::untrusted_text::{foreign, inline};

pub(super) fn section(facts: &Facts) -> Markup {
    const COLUMNS: [Column; 8] = [
        Column::Text("Session"),
        Column::Text("Instruction"),
        Column::Text("Start"),
        Column::Number("Duration"),
        Column::Number("Cost"),
        Column::Number("Changes"),
        Column::Number("Denied"),
        Column::Text("End"),
    ];
    let sessions = &facts.timeline.sessions;
    let content = if sessions.is_empty() {
        html! { p.muted { "No session was started." } }
    } else {
        let rows = html! { @for session in sessions { (row(session, facts)) } };
        table("sessions", &COLUMNS, &rows)
    };
    panel("sessions", "Sessions", &content)
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
            let (class, sign) = match session_level(result) {
                Level::Debug | Level::Info | Level::Good => ("good", "✓"),
                Level::Warning => ("warn", "■"),
                Level::Error => ("bad", "✕"),
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
