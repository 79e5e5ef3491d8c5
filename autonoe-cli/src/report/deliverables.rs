//! Table of the deliverables.

use std::collections::HashMap;

use autonoe_core::project::ChangeEntry;
use autonoe_core::{DeliverableStatus, Mode};
use maud::{Markup, html};

use super::facts::{Deliverables, Facts, Line};
use super::format::{machine_time, offset, pluralize};
use super::panel::{Column, panel, table};
use super::untrusted_text::{foreign, inline};

pub(super) fn section(facts: &Facts) -> Markup {
    const COLUMNS: [Column; 4] = [
        Column::Text("Deliverable"),
        Column::Text("Status"),
        Column::Text("Description"),
        Column::Text("Changed in"),
    ];
    let (lines, note) = match &facts.deliverables {
        Deliverables::Ledger(lines) => (lines, None),
        Deliverables::Journal { lines, reason } => (lines, Some(reason)),
    };
    let last: HashMap<&str, &ChangeEntry> = facts
        .timeline
        .changes
        .iter()
        .map(|entry| (entry.change.id.as_str(), entry))
        .collect();
    let rows = html! { @for line in lines { (row(line, last.get(line.id.as_str()), facts)) } };
    let content = html! {
        @if let Some(note) = note { p.muted { (foreign(note)) } }
        @if lines.is_empty() {
            p.muted { "There are no deliverables." }
        } @else {
            (table("deliverables", &COLUMNS, &rows))
        }
    };
    panel("deliverables", "Deliverables", &content)
}

fn row(line: &Line, change: Option<&&ChangeEntry>, facts: &Facts) -> Markup {
    html! {
        tr.dropped[line.deprecated] {
            th scope="row" { (inline(&line.id)) }
            td { (status(line, facts.timeline.mode)) }
            td.wide {
                (foreign(&line.description))
                @if !line.criteria.is_empty() {
                    details data-key=(inline(&line.id)) {
                        summary { (pluralize(line.criteria.len(), "acceptance criterion").replace("criterions", "criteria")) }
                        ul { @for criterion in &line.criteria { li { (foreign(criterion)) } } }
                    }
                }
            }
            td {
                @if let Some(change) = change {
                    "Session " (change.session) ", "
                    time datetime=(machine_time(change.at)) { (offset(facts.timeline.from, change.at)) }
                } @else { "–" }
            }
        }
    }
}

fn status(line: &Line, mode: Mode) -> Markup {
    let (class, sign, word) = match line.status {
        _ if line.deprecated => ("muted", "–", "dropped"),
        DeliverableStatus::Passed => ("good", "✓", "passed"),
        DeliverableStatus::Blocked => ("bad", "✕", "blocked"),
        DeliverableStatus::Pending => ("muted", "○", "open"),
    };
    html! {
        span class={ "status " (class) } { span aria-hidden="true" { (sign) } " " (word) }
        @if mode == Mode::Sync && line.verified && !line.deprecated {
            " " span.status.good { "verified" }
        }
    }
}
