//! What happens on another host, for those who watch here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::{
    Clock, Events, JournalEntry, JournalLine, Mode, RandomIds, RunEventKind, RunId, RunObserver,
    RunPhase, RunReport, RunView, SystemClock,
};

use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::error::CliError;

/// Tells observers of a run elsewhere what they would be told of a run here, as far as it is written
/// down in the journal there, with the time at which it was.
pub(super) struct Retelling {
    clock: Arc<RetoldClock>,
    events: Events,
    session: Events,
    run: RunId,
    mode: Mode,
    phase: RunPhase,
    /// Why it did not come on, as it was told last.
    trouble: Option<String>,
}

impl Retelling {
    pub(super) fn to(
        observers: Vec<Arc<dyn RunObserver>>,
        run: RunId,
        mode: Mode,
    ) -> Result<Self, CliError> {
        let ids = RandomIds::new().map_err(|error| CliError::failure(error.to_string()))?;
        let clock = Arc::new(RetoldClock::default());
        let events = Events::new(observers, clock.clone(), Arc::new(ids));
        Ok(Self {
            clock,
            session: events.child(),
            events,
            run,
            mode,
            phase: RunPhase::Waiting,
            trouble: None,
        })
    }

    /// Tells that a run is held, goes on, or does not come on.
    pub(super) fn stands(&mut self, view: &RunView) {
        match (self.phase, view.phase) {
            (RunPhase::Paused, RunPhase::Paused) => {}
            (_, RunPhase::Paused) => self.events.emit(RunEventKind::Paused),
            (RunPhase::Paused, _) => self.events.emit(RunEventKind::Resumed),
            _ => {}
        }
        self.phase = view.phase;
        // It comes and goes with each try, and is told once.
        if let Some(trouble) = &view.trouble
            && self.trouble.as_ref() != Some(trouble)
        {
            let message = format!("The run does not come on: {trouble}");
            self.events
                .emit(RunEventKind::Warning { message: &message });
            self.trouble = Some(trouble.clone());
        }
    }

    /// Tells what was written down.
    pub(super) fn tell(&mut self, entry: &JournalEntry) {
        self.clock.set(Some(entry.at));
        self.tell_line(&entry.line);
        self.clock.set(None);
    }

    fn tell_line(&mut self, line: &JournalLine) {
        match line {
            JournalLine::FlowStarted { .. } | JournalLine::RunStarted { .. } => {
                let (run, mode) = (&self.run, self.mode);
                self.events.emit(RunEventKind::RunStarted { run, mode });
            }
            JournalLine::SessionStarted {
                number,
                instruction,
            } => {
                self.session = self.events.child();
                self.session.emit(RunEventKind::SessionStarted {
                    number: *number,
                    instruction,
                    model: None,
                });
            }
            JournalLine::SessionEnded { number, result } => {
                let number = *number;
                self.session
                    .emit(RunEventKind::SessionEnded { number, result });
            }
            JournalLine::StatusChanged { change, .. } => {
                self.session.emit(RunEventKind::StatusChanged { change });
            }
            JournalLine::Deprecated { id, .. } => {
                self.session.emit(RunEventKind::Deprecated { id });
            }
            JournalLine::Verified { id, .. } => self.session.emit(RunEventKind::Verified { id }),
            // Of the call there is not enough to tell it as one.
            JournalLine::Denied {
                tool,
                target,
                reason,
                ..
            } => {
                let target = target.as_deref();
                let target = target.map_or_else(String::new, |target| format!(": {target}"));
                let message = format!("Blocked {tool}{target} — {reason}");
                self.session
                    .emit(RunEventKind::Warning { message: &message });
            }
            _ => {}
        }
    }

    /// Tells that the run is over.
    pub(super) fn end(&self, report: &RunReport) {
        self.events.emit(RunEventKind::RunEnded { report });
    }
}

/// Shows the time of what is retold, else the present one.
#[derive(Default)]
struct RetoldClock(Mutex<Option<Timestamp>>);

impl RetoldClock {
    fn set(&self, at: Option<Timestamp>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Clock for RetoldClock {
    fn now(&self) -> Timestamp {
        let retold = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        retold.unwrap_or_else(|| SystemClock.now())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(duration)
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunEvent;
    use serde_json::{Value, json};

    use super::*;

    /// Returns what is told, as programs get it.
    fn told(tell: impl FnOnce(&mut Retelling)) -> Vec<Value> {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = events.clone();
        let observer = move |event: &RunEvent<'_>| {
            let event = serde_json::to_value(event).expect("JSON");
            seen.lock().expect("not poisoned").push(event);
        };
        let retelling = Retelling::to(vec![Arc::new(observer)], RunId::new("shop-1"), Mode::Run);
        tell(&mut retelling.expect("random numbers"));
        let events = events.lock().expect("not poisoned");
        events.clone()
    }

    fn session_started(at: &str) -> JournalEntry {
        let entry = json!({"v": 1, "run": "shop-1", "at": at, "line": "session_started",
            "number": 1, "instruction": "coding"});
        serde_json::from_value(entry).expect("an entry")
    }

    #[test]
    fn what_was_written_down_has_its_time_and_what_is_seen_has_the_present_one() {
        let before = Timestamp::now();

        let told = told(|retelling| {
            let mut view = RunView::new(RunId::new("shop-1"));
            retelling.tell(&session_started("2026-01-01T00:00:00Z"));
            view.phase = RunPhase::Paused;
            retelling.stands(&view);
            retelling.tell(&session_started("2026-01-01T00:00:07Z"));
        });

        let at = |event: &Value| event["at"].as_str().expect("a time").parse::<Timestamp>();
        let times: Vec<_> = told.iter().map(|it| at(it).expect("a time")).collect();
        assert_eq!(told[0]["at"], "2026-01-01T00:00:00Z");
        assert_eq!(told[2]["at"], "2026-01-01T00:00:07Z");
        assert_eq!(told[1]["event"], "paused");
        assert!(times[1] >= before, "{times:?}");
    }

    #[test]
    fn why_a_run_does_not_come_on_is_told_once_for_each_reason() {
        let told = told(|retelling| {
            for why in [Some("a"), None, Some("a"), Some("b"), Some("b")] {
                let mut view = RunView::new(RunId::new("shop-1"));
                view.trouble = why.map(ToOwned::to_owned);
                retelling.stands(&view);
            }
        });

        let told: Vec<_> = told.iter().map(|event| &event["message"]).collect();
        let expected = ["The run does not come on: a", "The run does not come on: b"];
        assert_eq!(told, expected);
    }
}
