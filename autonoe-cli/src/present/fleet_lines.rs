//! `FleetLines`, an observer that prints the events of a fleet.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_app::text::{Level, Line, pluralize, shorten};
use autonoe_dashboard::{AlertLine, AlertSeverity};
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::{FleetEvent, FleetEventKind, FleetObserver};

use super::Presenter;

/// Kinds of alerts that the coordinator also emits as events.
const DUPLICATED_BY_EVENTS: [&str; 5] = [
    "cut_short",
    "failed",
    "finished",
    "member_failed",
    "waits_for_budget",
];

/// Prints the events of a fleet as lines.
#[derive(Debug)]
pub(crate) struct FleetLines {
    presenter: Arc<Presenter>,
    /// Whether the live view owns the screen.
    is_covered: AtomicBool,
    /// Warnings that arrived while the live view owned the screen.
    deferred: Mutex<Vec<String>>,
}

impl FleetLines {
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            is_covered: AtomicBool::new(false),
            deferred: Mutex::default(),
        }
    }

    /// Stops printing until `resume`, because a live view owns the screen.
    pub(crate) fn suspend(&self) {
        self.is_covered.store(true, Ordering::Relaxed);
    }

    /// Resumes printing, and prints the deferred warnings.
    pub(crate) fn resume(&self) {
        self.is_covered.store(false, Ordering::Relaxed);
        let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
        for message in deferred.drain(..) {
            self.presenter.warn(&message);
        }
    }

    /// Prints a warning, or defers it while the screen is covered.
    pub(crate) fn warn(&self, message: &str) {
        if self.is_covered.load(Ordering::Relaxed) {
            let mut deferred = self.deferred.lock().unwrap_or_else(PoisonError::into_inner);
            deferred.push(message.to_owned());
        } else {
            self.presenter.warn(message);
        }
    }

    /// Prints an alert, unless an event about the same fact is printed.
    pub(crate) fn alert(&self, alert: &AlertLine) {
        if DUPLICATED_BY_EVENTS.contains(&alert.kind.as_str()) {
            return;
        }
        let level = match alert.severity {
            AlertSeverity::Info => Level::Info,
            AlertSeverity::Success => Level::Good,
            AlertSeverity::Warning => Level::Warning,
            AlertSeverity::Critical | AlertSeverity::Error => Level::Error,
        };
        let member = alert.member.as_ref().map(|id| format!(" ({id})"));
        let (member, message) = (member.unwrap_or_default(), shorten(&alert.message));
        let text = format!(
            "[{}]{member} {message}",
            alert.severity.to_string().to_uppercase()
        );
        self.line(Line::new(level, text));
        if let ("needs_person", Some(id)) = (alert.kind.as_str(), &alert.member) {
            let hint = format!("answer: autonoe harness send {id} TEXT");
            self.line(Line::new(Level::Info, hint));
        }
    }

    fn line(&self, line: Line) {
        if !self.is_covered.load(Ordering::Relaxed) {
            self.presenter.print_line(Some(line));
        }
    }
}

impl FleetObserver for FleetLines {
    fn on_event(&self, event: &FleetEvent) {
        let info = |text: String| Line::new(Level::Info, text);
        let warning = |text: String| Line::new(Level::Warning, text);
        self.line(match &event.kind {
            FleetEventKind::FleetStarted { strategy, members } => {
                let fleet = &event.fleet;
                let members = pluralize(members.len() as u64, "member");
                info(format!("Fleet {fleet} is running ({strategy}, {members})"))
            }
            FleetEventKind::Started { member, .. } => info(format!("{member} started")),
            FleetEventKind::RunFound { member, .. } => info(format!("{member} reattached")),
            FleetEventKind::WaitsForBudget { member, reason } => {
                warning(format!("{member} waits: {}", shorten(reason)))
            }
            FleetEventKind::Paused => info("Paused".to_owned()),
            FleetEventKind::Resumed => info("Resumed".to_owned()),
            FleetEventKind::Stopping { member, reason } => {
                info(format!("{member} is stopped: {}", shorten(reason)))
            }
            FleetEventKind::Ended { result } => ended(result),
            FleetEventKind::CutShort { reason } => warning(format!("Ended early: {reason}")),
            // The command prints the result at the end.
            _ => return,
        });
    }
}

fn ended(result: &MemberReport) -> Line {
    let MemberReport { id, cost, .. } = result;
    match (result.success, &result.error) {
        (true, _) => Line::new(Level::Good, format!("{id} done ({cost})")),
        (false, Some(reason)) => Line::new(
            Level::Error,
            format!("{id} failed: {} ({cost})", shorten(reason)),
        ),
        (false, None) => Line::new(Level::Error, format!("{id} failed ({cost})")),
    }
}
