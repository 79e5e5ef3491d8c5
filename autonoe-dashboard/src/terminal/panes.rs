//! What is shown beside the members: alerts, details, keys, a question.

use autonoe_core::format_time;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};

use super::columns::{ASKS, QUIET, TITLE, of_severity, of_status};
use super::harmless::harmless;
use super::members::bar;
use crate::{AlertLine, Dashboard, Member, MemberId, cost_words, token_words};

const KEYS: [(&str, &str); 10] = [
    ("q, ctrl-c", "close this view; the fleet goes on"),
    ("↑ ↓", "select a member"),
    ("pgup pgdn", "ten members up or down"),
    ("home end", "first and last member"),
    ("enter", "details and log, and back"),
    ("p", "pause the member"),
    ("r", "resume it"),
    ("s", "stop it in order"),
    ("k, then y", "kill it with all that it started"),
    ("?", "these keys, and back"),
];

/// Draws the most recent alerts.
pub(super) fn alerts(frame: &mut Frame<'_>, area: Rect, dashboard: &Dashboard) {
    let title = format!("Alerts ({})", dashboard.alerts.len());
    let block = Block::new().borders(Borders::TOP).title(title);
    let rows = usize::from(block.inner(area).height);
    let lines: Vec<_> = match dashboard.alerts.is_empty() {
        true => vec![Line::styled("none", QUIET)],
        false => dashboard.alerts.iter().take(rows).map(alert).collect(),
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn alert(alert: &AlertLine) -> Line<'static> {
    let whose = alert.harness.as_ref().map(MemberId::as_str);
    let said = format!(
        " {}{}: {}",
        harmless(&alert.kind),
        whose.map_or(String::new(), |id| format!(" ({})", harmless(id))),
        harmless(&alert.message),
    );
    Line::from(vec![
        Span::styled(format_time(alert.timestamp), QUIET),
        Span::raw(" "),
        Span::styled(alert.severity.to_string(), of_severity(alert.severity)),
        Span::raw(said),
    ])
}

/// Draws all that is known of a member, and the end of its log.
pub(super) fn details(frame: &mut Frame<'_>, area: Rect, member: &Member) {
    let title = harmless(member.id.as_str());
    let block = Block::new().borders(Borders::TOP).title(title);
    let inner = block.inner(area);
    let mut lines = facts(member, usize::from(inner.width));
    let room = usize::from(inner.height).saturating_sub(lines.len() + 1);
    if room > 0 && !member.log.is_empty() {
        lines.push(Line::styled("Log", TITLE));
        let old = member.log.len().saturating_sub(room);
        let log = member.log.iter().skip(old);
        lines.extend(log.map(|line| Line::from(harmless(line))));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn facts(member: &Member, width: usize) -> Vec<Line<'static>> {
    let fact = |name: &'static str, text: String| {
        Line::from(vec![
            Span::styled(format!("{name:<9} "), QUIET),
            Span::raw(text),
        ])
    };
    let tokens = &member.tokens;
    let mut lines = vec![
        Line::from(vec![
            Span::styled(format!("{:<9} ", "status"), QUIET),
            Span::styled(member.status.to_string(), of_status(member.status)),
            Span::raw(format!("  {}", bar(member.progress, 25))),
        ]),
        fact("backend", harmless(&member.backend)),
        fact("model", optional(member.model.as_deref())),
        fact("task", optional(member.task.as_deref())),
        fact("iteration", member.iteration.to_string()),
        fact("cost", cost_words(&member.cost)),
        fact(
            "tokens",
            format!(
                "{} in, {} out",
                token_words(tokens.prompt()),
                token_words(tokens.completion())
            ),
        ),
    ];
    if let Some(error) = &member.error {
        lines.push(fact("error", harmless(error)));
    }
    if let Some(question) = &member.question {
        let names = std::iter::once("asks").chain(std::iter::repeat(""));
        let parts = wrap(&harmless(question), width.saturating_sub(10));
        lines.extend(
            names
                .zip(parts)
                .map(|(name, part)| fact(name, part).style(ASKS)),
        );
    }
    lines.extend(member.last_alert.as_ref().map(alert));
    lines
}

/// Breaks a text between words into lines of at most `width` characters, where its words allow it.
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
    text.map_or_else(|| "not known".to_owned(), harmless)
}

/// Draws the keys.
pub(super) fn help(frame: &mut Frame<'_>, area: Rect) {
    let lines = KEYS.map(|(key, meaning)| Line::from(format!("{key:<10} {meaning}")));
    let block = Block::new().borders(Borders::TOP).title("Keys");
    frame.render_widget(Paragraph::new(lines.to_vec()).block(block), area);
}

/// Asks whether a member is really to be killed, over everything else.
pub(super) fn question(frame: &mut Frame<'_>, area: Rect, member: &MemberId) {
    let width = area.width.min(56);
    let height = area.height.min(5);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let text = format!(
        "Kill {} with all that it started? What it has not saved is lost. y = yes",
        harmless(member.as_str())
    );
    let block = Block::bordered().title("Kill");
    let asked = Paragraph::new(text)
        .wrap(Wrap { trim: true })
        .block(block)
        .style(TITLE);
    frame.render_widget(Clear, place);
    frame.render_widget(asked, place);
}
