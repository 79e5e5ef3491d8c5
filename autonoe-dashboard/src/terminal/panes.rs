//! Panes beside the member table: alerts, details, key help and the kill confirmation.

use autonoe_core::time::format_time;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};

use super::columns::{DIM, QUESTION, TITLE, severity_style, status_style};
use super::members::bar;
use super::sanitize::sanitize;
use crate::{AlertLine, Dashboard, MemberRow, MemberRowId, format_cost, format_tokens};

const KEYS: [(&str, &str); 10] = [
    ("q, ctrl-c", "close this view; the fleet keeps running"),
    ("↑ ↓", "select a member"),
    ("pgup pgdn", "ten members up or down"),
    ("home end", "first and last member"),
    ("enter", "show or hide details and log"),
    ("p", "pause the member"),
    ("r", "resume it"),
    ("s", "stop it gracefully"),
    ("k, then y", "kill it and all its processes"),
    ("?", "show or hide these keys"),
];

/// Draws the most recent alerts.
pub(super) fn alerts(frame: &mut Frame<'_>, area: Rect, dashboard: &Dashboard) {
    let title = format!("Alerts ({})", dashboard.alerts.len());
    let block = Block::new().borders(Borders::TOP).title(title);
    let rows = usize::from(block.inner(area).height);
    let lines: Vec<_> = if dashboard.alerts.is_empty() {
        vec![Line::styled("none", DIM)]
    } else {
        dashboard.alerts.iter().take(rows).map(alert).collect()
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn alert(alert: &AlertLine) -> Line<'static> {
    let member = alert.member.as_ref().map(MemberRowId::as_str);
    let text = format!(
        " {}{}: {}",
        sanitize(&alert.kind),
        member.map_or(String::new(), |id| format!(" ({})", sanitize(id))),
        sanitize(&alert.message),
    );
    Line::from(vec![
        Span::styled(format_time(alert.timestamp), DIM),
        Span::raw(" "),
        Span::styled(alert.severity.to_string(), severity_style(alert.severity)),
        Span::raw(text),
    ])
}

/// Draws all fields of a member and the end of its log.
pub(super) fn details(frame: &mut Frame<'_>, area: Rect, member: &MemberRow) {
    let title = sanitize(member.id.as_str());
    let block = Block::new().borders(Borders::TOP).title(title);
    let inner = block.inner(area);
    let mut lines = facts(member, usize::from(inner.width));
    let room = usize::from(inner.height).saturating_sub(lines.len() + 1);
    if room > 0 && !member.log.is_empty() {
        lines.push(Line::styled("Log", TITLE));
        let old = member.log.len().saturating_sub(room);
        let log = member.log.iter().skip(old);
        lines.extend(log.map(|line| Line::from(sanitize(line))));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn facts(member: &MemberRow, width: usize) -> Vec<Line<'static>> {
    let fact = |name: &'static str, text: String| {
        Line::from(vec![
            Span::styled(format!("{name:<9} "), DIM),
            Span::raw(text),
        ])
    };
    let tokens = &member.tokens;
    let mut lines = vec![
        Line::from(vec![
            Span::styled(format!("{:<9} ", "status"), DIM),
            Span::styled(member.status.to_string(), status_style(member.status)),
            Span::raw(format!("  {}", bar(member.progress, 25))),
        ]),
        fact("backend", sanitize(&member.backend)),
        fact("model", optional(member.model.as_deref())),
        fact("task", optional(member.task.as_deref())),
        fact("iteration", member.iteration.to_string()),
        fact("cost", format_cost(&member.cost)),
        fact(
            "tokens",
            format!(
                "{} in, {} out",
                format_tokens(tokens.prompt()),
                format_tokens(tokens.completion())
            ),
        ),
    ];
    if let Some(error) = &member.error {
        lines.push(fact("error", sanitize(error)));
    }
    if let Some(question) = &member.question {
        let names = std::iter::once("asks").chain(std::iter::repeat(""));
        let parts = wrap(&sanitize(question), width.saturating_sub(10));
        lines.extend(
            names
                .zip(parts)
                .map(|(name, part)| fact(name, part).style(QUESTION)),
        );
    }
    lines.extend(member.last_alert.as_ref().map(alert));
    lines
}

/// Wraps a text at whitespace into lines of at most `width` characters. Longer words stay whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn optional(text: Option<&str>) -> String {
    text.map_or_else(|| "not known".to_owned(), sanitize)
}

/// Draws the key help.
pub(super) fn help(frame: &mut Frame<'_>, area: Rect) {
    let lines = KEYS.map(|(key, meaning)| Line::from(format!("{key:<10} {meaning}")));
    let block = Block::new().borders(Borders::TOP).title("Keys");
    frame.render_widget(Paragraph::new(lines.to_vec()).block(block), area);
}

/// Draws the confirmation of a kill, over everything else.
pub(super) fn question(frame: &mut Frame<'_>, area: Rect, member: &MemberRowId) {
    let width = area.width.min(56);
    let height = area.height.min(5);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let text = format!(
        "Kill {} and all its processes? Unsaved work is lost. y = yes",
        sanitize(member.as_str())
    );
    let block = Block::bordered().title("Kill");
    let confirmation = Paragraph::new(text)
        .wrap(Wrap { trim: true })
        .block(block)
        .style(TITLE);
    frame.render_widget(Clear, place);
    frame.render_widget(confirmation, place);
}
