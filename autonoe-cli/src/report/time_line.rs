//! Figure of the sessions, waits and denied calls on one time axis.

use autonoe_app::text::{Level, session_level};
use autonoe_core::event::WaitReason;
use autonoe_core::project::{IdleReason, SessionSpan};
use autonoe_core::time::format_duration;
use jiff::Timestamp;
use maud::{Markup, html};

use super::facts::{Facts, RunState};
use super::format::{pluralize, total};
use super::panel::panel;
use super::scale::{Key, TimeScale, WIDTH, coordinate, grid, legend, since, time_axis};
use super::untrusted_text::inline;

/// Height of a lane, in units of a figure.
const HEIGHT: f64 = 20.0;

/// Minimum width of a bar, in units of a figure.
const MIN_BAR_WIDTH: f64 = 3.0;

/// Bar in a lane.
struct Bar {
    class: &'static str,
    from: Timestamp,
    until: Timestamp,
    label: String,
}

pub(super) fn section(facts: &Facts) -> Markup {
    let timeline = &facts.timeline;
    let scale = TimeScale::new(timeline.from, timeline.until);
    let lanes = lanes(facts);
    let content = html! {
        @if timeline.sessions.is_empty() {
            p.muted { "No session was started." }
        } @else {
            figure {
                div.lanes role="img" aria-label=(description(facts)) {
                    @for (name, bars) in &lanes {
                        div.lane {
                            span.lane-name { (name) }
                            (render_lane(&scale, bars))
                        }
                    }
                    div.lane { span.lane-name {} (time_axis(&scale)) }
                }
                figcaption { (legend(&keys(&lanes))) }
            }
        }
    };
    panel("time-line", "Time line", &content)
}

fn render_lane(scale: &TimeScale, bars: &[Bar]) -> Markup {
    html! {
        svg viewBox={ "0 0 " (coordinate(WIDTH)) " " (coordinate(HEIGHT)) }
            preserveAspectRatio="none" aria-hidden="true" {
            (grid(scale, &[], HEIGHT))
            @for bar in bars {
                @let from = scale.x(bar.from);
                @let width = (scale.x(bar.until) - from).max(MIN_BAR_WIDTH);
                rect class=(bar.class) x=(coordinate(from.min(WIDTH - width))) y="3"
                    width=(coordinate(width)) height="14" { title { (bar.label) } }
            }
        }
    }
}

/// Sorts bars into lanes: one per instruction, one for waits and one for denials.
fn lanes(facts: &Facts) -> Vec<(String, Vec<Bar>)> {
    let timeline = &facts.timeline;
    let mut lanes: Vec<(String, Vec<Bar>)> = Vec::new();
    for session in &timeline.sessions {
        let name = session.instruction.to_string();
        let bar = Bar {
            class: class_of(session, facts),
            from: session.from,
            until: session.until.unwrap_or(timeline.until),
            label: session_label(session, timeline.until),
        };
        match lanes.iter_mut().find(|(lane, _)| *lane == name) {
            Some((_, bars)) => bars.push(bar),
            None => lanes.push((name, vec![bar])),
        }
    }
    for (name, _) in &mut lanes {
        *name = inline(name);
    }
    let waits: Vec<Bar> = timeline
        .idle
        .iter()
        .filter_map(|idle| {
            let label = match idle.reason {
                // The pause between two sessions is too short to be visible.
                IdleReason::Wait(WaitReason::Pause) => return None,
                IdleReason::Wait(WaitReason::Quota | WaitReason::QuotaBackoff) => {
                    "Waited for the quota"
                }
                IdleReason::Wait(WaitReason::RetryAfter) => "Waited for the service",
                IdleReason::Paused => "Paused by a user",
                IdleReason::Interrupted => "The process was not running",
            };
            let until = idle.until.unwrap_or(timeline.until);
            let time = format_duration(since(idle.from, until));
            Some(Bar {
                class: "wait",
                from: idle.from,
                until,
                label: format!("{label}, {time}"),
            })
        })
        .collect();
    if !waits.is_empty() {
        lanes.push(("waiting".to_owned(), waits));
    }
    let denied: Vec<Bar> = timeline
        .denied
        .iter()
        .map(|denied| Bar {
            class: "denied",
            from: denied.at,
            until: denied.at,
            label: format!(
                "Denied {} in session {}",
                inline(&denied.tool),
                denied.session
            ),
        })
        .collect();
    if !denied.is_empty() {
        lanes.push(("denied calls".to_owned(), denied));
    }
    lanes
}

fn class_of(session: &SessionSpan, facts: &Facts) -> &'static str {
    match session.result.as_ref().map(session_level) {
        Some(Level::Debug | Level::Info | Level::Good) => "completed",
        Some(Level::Warning) => "cut-short",
        Some(Level::Error) => "failed",
        None if facts.run_state == RunState::InProgress && session.until.is_none() => "under-way",
        None => "lost",
    }
}

fn session_label(session: &SessionSpan, now: Timestamp) -> String {
    let duration = since(session.from, session.until.unwrap_or(now));
    let end = match &session.result {
        Some(result) => format!(
            "{}, {}",
            inline(&result.end.to_string()),
            total(result.cost)
        ),
        None => "did not finish".to_owned(),
    };
    format!(
        "Session {}: {end}, {}",
        session.number,
        format_duration(duration)
    )
}

/// Returns the legend for the colours in use.
fn keys(lanes: &[(String, Vec<Bar>)]) -> Vec<Key> {
    const ALL: [(&str, &str); 7] = [
        ("completed", "completed"),
        ("cut-short", "ended early"),
        ("failed", "failed"),
        ("lost", "lost because its process ended"),
        ("under-way", "in progress"),
        ("wait", "waiting"),
        ("denied", "denied call"),
    ];
    let is_there = |class| {
        lanes
            .iter()
            .any(|(_, bars)| bars.iter().any(|bar| bar.class == class))
    };
    ALL.into_iter()
        .filter(|(class, _)| is_there(*class))
        .map(|(class, label)| Key { class, label })
        .collect()
}

/// Describes the figure as text. The table of sessions has the details.
fn description(facts: &Facts) -> String {
    let timeline = &facts.timeline;
    let waited = timeline
        .idle
        .iter()
        .filter(|idle| idle.reason != IdleReason::Wait(WaitReason::Pause));
    format!(
        "{} in {}, with {} and {}. The table of sessions below has the details.",
        pluralize(timeline.sessions.len(), "session"),
        format_duration(since(timeline.from, timeline.until)),
        pluralize(waited.count(), "wait"),
        pluralize(timeline.denied.len(), "denied call"),
    )
}
