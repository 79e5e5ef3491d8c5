//! Changes of the ledger that no tool of the run made.

use autonoe_core::RestoredEntry;
use maud::{Markup, html};

use super::facts::Facts;
use super::foreign::foreign;
use super::words::{machine_time, offset, sentence};
use crate::present::LEDGER_EDITED;

/// Lists the changes, or nothing if there were none: most runs have none.
pub(super) fn section(facts: &Facts) -> Markup {
    let (restored, edited) = (
        &facts.timeline.ledger_restored,
        facts.timeline.ledger_edited,
    );
    html! {
        @if edited.is_some() || !restored.is_empty() {
            section.panel aria-labelledby="ledger" {
                h2 #ledger { "Changes of the ledger from outside" }
                @if let Some(at) = edited {
                    p {
                        time datetime=(machine_time(at)) { (offset(facts.timeline.from, at)) }
                        " " (sentence(LEDGER_EDITED)) "."
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
            td.wide { (foreign(&sentence(&change.to_string()))) "." }
        }
    }
}
