//! Tables of the denied calls and their remedies.

use autonoe_core::project::DeniedEntry;
use maud::{Markup, html};

use super::facts::Facts;
use super::format::{machine_time, offset, pluralize};
use super::panel::{Column, panel, table};
use super::untrusted_text::{foreign, inline};
use crate::present::{DeniedCall, group_by, group_by_remedy};

/// Maximum number of rows.
const MAX_ROWS: usize = 500;

pub(super) fn section(facts: &Facts) -> Markup {
    const COLUMNS: [Column; 5] = [
        Column::Text("First"),
        Column::Text("Session"),
        Column::Number("Times"),
        Column::Text("Call"),
        Column::Text("Why"),
    ];
    // Equal calls that were denied for the same reason.
    let kinds = group_by(&facts.timeline.denied, |entry| {
        Some((&entry.tool, &entry.target, &entry.by, &entry.reason))
    });
    let left_out = kinds.len().saturating_sub(MAX_ROWS);
    let rows = html! {
        @for (first, count) in kinds.iter().take(MAX_ROWS) { (row(first, *count, facts)) }
    };
    let content = html! {
        @if kinds.is_empty() {
            p.muted { "No call was denied." }
        } @else {
            (table("denied", &COLUMNS, &rows))
            @if left_out > 0 {
                p.muted { (pluralize(left_out, "more kind")) " of denied calls are in the journal." }
            }
            (remedies(&facts.timeline.denied))
        }
    };
    panel("denied", "Denied calls", &content)
}

/// Lists the settings that would allow denied calls, most frequent first.
fn remedies(denied: &[DeniedEntry]) -> Markup {
    const COLUMNS: [Column; 3] = [
        Column::Number("Times"),
        Column::Text("First call"),
        Column::Text("To allow it"),
    ];
    let denied: Vec<_> = denied.iter().map(DeniedCall::from).collect();
    let all = group_by_remedy(&denied);
    let rows = html! {
        @for (first, count) in all.iter().take(MAX_ROWS) {
            tr {
                td.number { (count) }
                td.wide { code { (foreign(&first.label())) } }
                td.wide { (foreign(first.remedy.as_deref().unwrap_or_default())) }
            }
        }
    };
    html! {
        @if !all.is_empty() {
            h3 #allowable { "Calls that you can allow" }
            (table("allowable", &COLUMNS, &rows))
        }
    }
}

fn row(entry: &DeniedEntry, count: usize, facts: &Facts) -> Markup {
    let DeniedEntry {
        at,
        session,
        tool,
        target,
        by,
        reason,
        ..
    } = entry;
    html! {
        tr {
            td { time datetime=(machine_time(*at)) { (offset(facts.timeline.from, *at)) } }
            td { (session) }
            td.number { (count) }
            td.wide {
                strong { (inline(tool)) }
                @if let Some(target) = target { br; code { (foreign(target)) } }
            }
            td.wide { (foreign(reason)) br; span.muted { "by " (inline(by)) } }
        }
    }
}
