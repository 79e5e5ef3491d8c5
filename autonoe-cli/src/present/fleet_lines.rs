//! What of a fleet stays on the screen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_dashboard::{AlertLine, AlertSeverity};
use autonoe_harness::{FleetEvent, FleetEventKind, FleetObserver, HarnessResult};

use super::lines::{Level, Line};
use super::{Presenter, shorten};

/// Alerts about what a coordinator tells as an event, too.
const OF_EVENTS: [&str; 4] = [
    "cut_short",
    "fleet_ended",
    "member_failed",
    "waits_for_money",
];

/// Shows a person what happens in a fleet, line by line.
#[derive(Debug)]
pub(crate) struct FleetLines {
    presenter: Arc<Presenter>,
    /// Whether the live view has the screen.
    is_covered: AtomicBool,
    /// Warnings that came meanwhile.
    held: Mutex<Vec<String>>,
}

impl FleetLines {
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            is_covered: AtomicBool::new(false),
            held: Mutex::default(),
        }
    }

    /// Says that something else has the screen: nothing is written until it is
    /// [uncovered](Self::uncover).
    pub(crate) fn cover(&self) {
        self.is_covered.store(true, Ordering::Relaxed);
    }

    /// Lets lines be written again, and writes the warnings that came meanwhile.
    pub(crate) fn uncover(&self) {
        self.is_covered.store(false, Ordering::Relaxed);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for message in held.drain(..) {
            self.presenter.warn(&message);
        }
    }

    /// Warns of something.
    pub(crate) fn warn(&self, message: &str) {
        match self.is_covered.load(Ordering::Relaxed) {
            true => {
                let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
                held.push(message.to_owned());
            }
            false => self.presenter.warn(message),
        }
    }

    /// Shows an alert, unless the event that it is about is shown itself.
    pub(crate) fn alert(&self, alert: &AlertLine) {
        if OF_EVENTS.contains(&alert.kind.as_str()) {
            return;
        }
        let level = match alert.severity {
            AlertSeverity::Info => Level::Info,
            AlertSeverity::Success => Level::Good,
            AlertSeverity::Warning => Level::Warning,
            AlertSeverity::Critical | AlertSeverity::Error => Level::Error,
        };
        let of = alert.harness.as_ref().map(|id| format!(" ({id})"));
        let (of, message) = (of.unwrap_or_default(), shorten(&alert.message));
        let text = format!(
            "[{}]{of} {message}",
            alert.severity.to_string().to_uppercase()
        );
        self.line(Line::new(level, text));
        if let ("asks_person", Some(id)) = (alert.kind.as_str(), &alert.harness) {
            let hint = format!("answer: autonoe harness send {id} TEXT");
            self.line(Line::new(Level::Info, hint));
        }
    }

    fn line(&self, line: Line) {
        if !self.is_covered.load(Ordering::Relaxed) {
            self.presenter.stays(Some(line));
        }
    }
}

impl FleetObserver for FleetLines {
    fn on_event(&self, event: &FleetEvent) {
        let info = |text: String| Line::new(Level::Info, text);
        let warning = |text: String| Line::new(Level::Warning, text);
        self.line(match &event.kind {
            FleetEventKind::Began { strategy, members } => {
                let fleet = &event.fleet;
                let plural = if members.len() == 1 { "" } else { "s" };
                let members = format!("{} member{plural}", members.len());
                info(format!("Fleet {fleet} at work ({strategy}, {members})"))
            }
            FleetEventKind::Started { member, .. } => info(format!("{member} started")),
            FleetEventKind::FoundAgain { member, .. } => info(format!("{member} found again")),
            FleetEventKind::WaitsForMoney { member, why } => {
                warning(format!("{member} waits: {}", shorten(why)))
            }
            FleetEventKind::Paused => info("Paused".to_owned()),
            FleetEventKind::Resumed => info("Resumed".to_owned()),
            FleetEventKind::Stopping { member, why } => {
                info(format!("{member} is stopped: {}", shorten(why)))
            }
            FleetEventKind::Ended { result } => ended(result),
            FleetEventKind::CutShort { reason } => warning(format!("Cut short: {reason}")),
            // The result is told at the end.
            _ => return,
        });
    }
}

fn ended(result: &HarnessResult) -> Line {
    let HarnessResult { id, cost, .. } = result;
    match (result.success, &result.error) {
        (true, _) => Line::new(Level::Good, format!("{id} done ({cost})")),
        (false, Some(why)) => Line::new(
            Level::Error,
            format!("{id} not done: {} ({cost})", shorten(why)),
        ),
        (false, None) => Line::new(Level::Error, format!("{id} not done ({cost})")),
    }
}
