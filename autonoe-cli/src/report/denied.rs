//! Tables of the denied calls and their remedies.

use autonoe_core::project::DeniedEntry;
use maud::{Markup, html};

use super::facts::Facts;
use super::format::{machine_time, offset, pluralize};
use super::untrusted_text::{foreign, inline};
use crate::present::{DeniedCall, group_by_remedy};

/// Maximum number of rows.
const MAX_ROWS: usize = 500;

/// Equal calls that were denied for the same reason.
struct Kind<'t> {
    first: &'t DeniedEntry,
    times: usize,
}

pub(super) fn section(facts: &Facts) -> Markup {
    let kinds = kinds(&facts.timeline.denied);
    let left_out = kinds.len().saturating_sub(MAX_ROWS);
    html! {
        section.panel aria-labelledby="denied" {
            h2 #denied { "Denied calls" }
            @if kinds.is_empty() {
                p.muted { "No call was denied." }
            } @else {
                div.scroll role="region" aria-labelledby="denied" tabindex="0" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "First" }
                                th scope="col" { "Session" }
                                th.number scope="col" { "Times" }
                                th scope="col" { "Call" }
                                th scope="col" { "Why" }
                            }
                        }
                        tbody { @for kind in kinds.iter().take(MAX_ROWS) { (row(kind, facts)) } }
                    }
                }
                @if left_out > 0 {
                    p.muted { (pluralize(left_out, "more kind")) " of denied calls are in the journal." }
                }
                (remedies(&facts.timeline.denied))
            }
        }
    }
}

/// Lists the settings that would allow denied calls, most frequent first.
fn remedies(denied: &[DeniedEntry]) -> Markup {
    let denied: Vec<_> = denied.iter().map(DeniedCall::from).collect();
    let all = group_by_remedy(&denied);
    html! {
        @if !all.is_empty() {
            h3 #allowable { "Calls that you can allow" }
            div.scroll role="region" aria-labelledby="allowable" tabindex="0" {
                table {
                    thead {
                        tr {
                            th.number scope="col" { "Times" }
                            th scope="col" { "First call" }
                            th scope="col" { "To allow it" }
                        }
                    }
                    tbody {
                        @for group in all.iter().take(MAX_ROWS) {
                            tr {
                                td.number { (group.count) }
                                td.wide { code { (foreign(&group.call())) } }
                                td.wide { (foreign(group.remedy)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn row(kind: &Kind<'_>, facts: &Facts) -> Markup {
    let DeniedEntry {
        at,
        session,
        tool,
        target,
        by,
        reason,
        ..
    } = kind.first;
    html! {
        tr {
            td { time datetime=(machine_time(*at)) { (offset(facts.timeline.from, *at)) } }
            td { (session) }
            td.number { (kind.times) }
            td.wide {
                strong { (inline(tool)) }
                @if let Some(target) = target { br; code { (foreign(target)) } }
            }
            td.wide { (foreign(reason)) br; span.muted { "by " (inline(by)) } }
        }
    }
}

/// Groups equal calls, in the order of their first occurrence.
fn kinds(denied: &[DeniedEntry]) -> Vec<Kind<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for entry in denied {
        let name = (&entry.tool, &entry.target, &entry.by, &entry.reason);
        let place = *places.entry(name).or_insert(kinds.len());
        match kinds.get_mut(place) {
            Some(kind) => kind.times += 1,
            None => kinds.push(Kind {
                first: entry,
                times: 1,
            }),
        }
    }
    kinds
}
