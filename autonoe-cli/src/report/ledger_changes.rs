//! Table of ledger changes that no tool of the run made.

use autonoe_app::text::LEDGER_EDITED;
use autonoe_core::project::RestoredEntry;
use maud::{Markup, html};

use super::facts::Facts;
use super::format::{capitalize, machine_time, offset};
use super::panel::{Column, panel, table};
use super::untrusted_text::foreign;

/// Renders the table, or nothing without changes, as in most runs.
pub(super) fn section(facts: &Facts) -> Markup {
    const COLUMNS: [Column; 3] = [
        Column::Text("When"),
        Column::Text("Session"),
        Column::Text("What happened"),
    ];
    let (restored, edited) = (
        &facts.timeline.ledger_restored,
        facts.timeline.ledger_edited,
    );
    if edited.is_none() && restored.is_empty() {
        return Markup::default();
    }
    let rows = html! { @for entry in restored { (row(entry, facts)) } };
    let content = html! {
        @if let Some(at) = edited {
            p {
                time datetime=(machine_time(at)) { (offset(facts.timeline.from, at)) }
                " " (capitalize(LEDGER_EDITED)) "."
            }
        }
        @if !restored.is_empty() { (table("ledger", &COLUMNS, &rows)) }
    };
    panel("ledger", "Changes of the ledger outside of runs", &content)
}

fn row(entry: &RestoredEntry, facts: &Facts) -> Markup {
    let RestoredEntry {
        at,
        session,
        foreign: change,
        ..
    } = entry;
    html! {
        tr {
            td { time datetime=(machine_time(*at)) { (offset(facts.timeline.from, *at)) } }
            td { (session) }
            td.wide { (foreign(&capitalize(&change.to_string()))) "." }
        }
    }
}
