//! The calls that were refused, and why.

use autonoe_core::DeniedEntry;
use maud::{Markup, html};

use super::facts::Facts;
use super::foreign::{foreign, inline};
use super::words::{counted, machine_time, offset};
use crate::present::{DeniedCall, group_by_remedy};

/// How many are shown.
const MOST: usize = 500;

/// Calls of one kind that were refused for one reason.
struct Kind<'t> {
    first: &'t DeniedEntry,
    times: usize,
}

pub(super) fn section(facts: &Facts) -> Markup {
    let kinds = kinds(&facts.timeline.denied);
    let left_out = kinds.len().saturating_sub(MOST);
    html! {
        section.panel aria-labelledby="blocked" {
            h2 #blocked { "Blocked calls" }
            @if kinds.is_empty() {
                p.muted { "No call was blocked." }
            } @else {
                div.scroll role="region" aria-labelledby="blocked" tabindex="0" {
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
                        tbody { @for kind in kinds.iter().take(MOST) { (row(kind, facts)) } }
                    }
                }
                @if left_out > 0 {
                    p.muted { (counted(left_out, "more kind")) " of blocked calls are in the journal." }
                }
                (remedies(&facts.timeline.denied))
            }
        }
    }
}

/// Lists the settings that would allow blocked calls, most frequent first.
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
                        @for group in all.iter().take(MOST) {
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

/// Puts equal calls together, in the order in which they came first.
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
