//! Banner and key figures of the report.

use autonoe_core::Mode;
use autonoe_core::time::format_duration;
use maud::{Markup, html};

use super::facts::{Facts, RunState};
use super::format::{capitalize, date_and_time, machine_time, thousands, tokens, total};
use super::scale::since;
use super::untrusted_text::{foreign, inline};

pub(super) fn banner(facts: &Facts) -> Markup {
    let timeline = &facts.timeline;
    let (class, sign) = match &facts.run_state {
        RunState::Done(_) => ("good", "✓"),
        RunState::Stopped(_) => ("warn", "■"),
        RunState::InProgress => ("busy", "▶"),
        RunState::Interrupted(_) => ("bad", "✕"),
    };
    let kind = match (&timeline.flow, timeline.mode) {
        (Some(flow), _) => format!("Flow {flow}"),
        (None, Mode::Run) => "Run".to_owned(),
        (None, Mode::Sync) => "Sync".to_owned(),
    };
    html! {
        header.banner {
            p.eyebrow { "Autonoe · " (inline(&kind)) " report" }
            h1 { (inline(&facts.project)) }
            p.standing {
                span class={ "badge " (class) } {
                    span aria-hidden="true" { (sign) } " " (capitalize(facts.run_state.headline()))
                }
                " "
                span.reason { (reason(&facts.run_state)) }
            }
            p.muted {
                "Started " time datetime=(machine_time(timeline.from)) { (date_and_time(timeline.from)) }
                @if timeline.report.is_some() || timeline.flow_report.is_some() {
                    ", ended "
                } @else {
                    ", last entry "
                }
                time datetime=(machine_time(timeline.until)) { (date_and_time(timeline.until)) }
                " UTC"
            }
        }
    }
}

fn reason(run_state: &RunState) -> Markup {
    html! {
        @match run_state {
            RunState::Done(reason) | RunState::Stopped(reason) | RunState::Interrupted(reason) => {
                (foreign(&capitalize(reason))) "."
            },
            RunState::InProgress => { "This page shows the run so far." },
        }
    }
}

/// Renders the key figures of the run.
pub(super) fn tiles(facts: &Facts) -> Markup {
    let timeline = &facts.timeline;
    let now = timeline.progress.last().map(|point| point.ledger);
    let counts = now.unwrap_or_default().counts;
    let end = match (&timeline.report, &timeline.flow_report) {
        (Some(report), _) => Some((report.cost, report.elapsed, report.tokens)),
        (None, Some(report)) => Some((report.cost, report.elapsed, report.tokens)),
        (None, None) => None,
    };
    let spent_so_far = timeline.cost.last().map(|point| point.total);
    let spent = end.map_or(spent_so_far.unwrap_or_default(), |(cost, ..)| cost);
    let elapsed = end.map_or(since(timeline.from, timeline.until), |(_, time, _)| time);
    let used = end.and_then(|(.., used)| tokens(&used));
    html! {
        section aria-labelledby="numbers" {
            h2 #numbers.visually-hidden { "Key figures" }
            dl.tiles {
                @match timeline.mode {
                    Mode::Run => (tile(
                        "Passed",
                        &format!("{} of {}", counts.passed, counts.total),
                        &still_open(counts.pending(), counts.blocked),
                    )),
                    Mode::Sync => (tile(
                        "Verified",
                        &format!("{} of {}", now.unwrap_or_default().verified, counts.total),
                        &format!("{} passed", counts.passed),
                    )),
                }
                (tile("Cost", &total(spent), &used.unwrap_or_default()))
                (tile("Time", &format_duration(elapsed), "including waits"))
                (tile(
                    "Sessions",
                    &thousands(timeline.sessions.len() as u64),
                    &outcomes(facts),
                ))
                (tile(
                    "Denied calls",
                    &thousands(timeline.denied.len() as u64),
                    match timeline.denied.len() {
                        0 => "no call was denied",
                        _ => "denied before they ran",
                    },
                ))
            }
        }
    }
}

fn tile(name: &str, value: &str, note: &str) -> Markup {
    html! {
        div.tile {
            dt { (name) }
            dd.value { (value) }
            @if !note.is_empty() { dd.note { (note) } }
        }
    }
}

fn still_open(pending: usize, blocked: usize) -> String {
    match (pending, blocked) {
        (0, 0) => "none open".to_owned(),
        (pending, 0) => format!("{pending} open"),
        (0, blocked) => format!("{blocked} blocked"),
        (pending, blocked) => format!("{pending} open, {blocked} blocked"),
    }
}

fn outcomes(facts: &Facts) -> String {
    let results = facts.timeline.sessions.iter();
    let completed = results
        .filter_map(|session| session.result.as_ref())
        .filter(|result| result.end.is_completed() && result.flaw.is_none())
        .count();
    match (facts.timeline.sessions.len(), completed) {
        (0, _) => String::new(),
        (all, completed) if all == completed => "all completed".to_owned(),
        (_, completed) => format!("{completed} completed"),
    }
}
