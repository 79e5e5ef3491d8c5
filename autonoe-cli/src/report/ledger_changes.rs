//! Table of ledger changes that no tool of the run made.

use autonoe_app::text::LEDGER_EDITED;
use autonoe_core::project::RestoredEntry;
use maud::{Markup, html};

use super::facts::Facts;
use super::format::{capitalize, machine_time, offset};
use super::untrusted_text::foreign;

/// Renders the table, or nothing without changes, as in most runs.
pub(super) fn section(facts: &Facts) -> Markup {
    let (restored, edited) = (
        &facts.timeline.ledger_restored,
        facts.timeline.ledger_edited,
    );
    html! {
        @if edited.is_some() || !restored.is_empty() {
            section.panel aria-labelledby="ledger" {
                h2 #ledger { "Changes of the ledger outside of runs" }
                @if let Some(at) = edited {
                    p {
                        time datetime=(machine_time(at)) { (offset(facts.timeline.from, at)) }
                        " " (capitalize(LEDGER_EDITED)) "."
                    }
                }
                @if !restored.is_empty() {
                    div.scroll role="region" aria-labelledby="ledger" tabindex="0" {
                        table {
                            thead {
                                tr {
                                    th scope="col" { "When" }
                                    th scope="col" { "Session" }
                                    th scope="col" { "What happened" }
                                }
                            }
                            tbody { @for entry in restored { (row(entry, facts)) } }
                        }
                    }
                }
            }
        }
    }
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
