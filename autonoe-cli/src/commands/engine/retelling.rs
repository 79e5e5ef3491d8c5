//! What happens on another host, for those who watch here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::{
    Clock, Events, ExitReason, Mode, RandomIds, RecordedEvent, RetoldSessions, RunEvent,
    RunEventKind, RunId, RunObserver, RunPhase, RunReport, RunView, RunWait, SystemClock,
    WaitReason,
};
use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::error::CliError;

/// Tells observers of a run elsewhere what they would be told of a run here: what happened in its
/// sessions, with the time at which it did, and what the run itself does, as it is seen.
pub(super) struct Retelling {
    clock: Arc<RetoldClock>,
    events: Events,
    sessions: RetoldSessions,
    run: RunId,
    mode: Mode,
    has_begun: bool,
    phase: RunPhase,
    /// The wait that was told last and has not ended.
    wait: Option<RunWait>,
    /// When the last session began.
    session_began: Option<Timestamp>,
    is_in_session: bool,
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
            sessions: RetoldSessions::below(events.clone()),
            events,
            run,
            mode,
            has_begun: false,
            phase: RunPhase::Waiting,
            wait: None,
            session_began: None,
            is_in_session: false,
            trouble: None,
        })
    }

    /// Tells that a run is held, waits, goes on, or does not come on. What has happened before that
    /// is told before.
    pub(super) fn stands(&mut self, view: &RunView) {
        // Else nobody answers who knows what it does: no answer is no news.
        if view.at.is_some() {
            self.does(view.phase);
            self.waits(view.wait);
        }
        // It comes and goes with each try, and is told once.
        if let Some(trouble) = &view.trouble
            && self.trouble.as_ref() != Some(trouble)
        {
            let message = format!("The run does not come on: {trouble}");
            self.begin();
            self.events
                .emit(RunEventKind::Warning { message: &message });
            self.trouble = Some(trouble.clone());
        }
    }

    fn does(&mut self, phase: RunPhase) {
        let change = match (self.phase, phase) {
            (RunPhase::Paused, RunPhase::Paused) => None,
            (_, RunPhase::Paused) => Some(RunEventKind::Paused),
            (RunPhase::Paused, _) => Some(RunEventKind::Resumed),
            _ => None,
        };
        self.phase = phase;
        if let Some(change) = change {
            self.begin();
            self.events.emit(change);
        }
    }

    fn waits(&mut self, wait: Option<RunWait>) {
        // What was seen may be older than what was told of a session.
        let is_over = |wait: &RunWait| self.session_began.is_some_and(|at| at >= wait.until);
        let wait = wait.filter(|wait| !self.is_in_session && !is_over(wait));
        if self.wait != wait {
            self.end_wait();
            if let Some(RunWait { reason, until, .. }) = wait {
                self.begin();
                self.events
                    .emit(RunEventKind::WaitStarted { reason, until });
            }
            self.wait = wait;
        }
        if let Some(RunWait { reason, until, .. }) = wait
            && matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff)
        {
            let remaining = until.duration_since(self.clock.now());
            let remaining = Duration::try_from(remaining).unwrap_or_default();
            self.events.emit(RunEventKind::WaitTick {
                reason,
                until,
                remaining,
            });
        }
    }

    fn end_wait(&mut self) {
        if let Some(RunWait { reason, .. }) = self.wait.take() {
            self.events.emit(RunEventKind::WaitEnded { reason });
        }
    }

    /// Tells what happened in a session.
    pub(super) fn tell(&mut self, event: &RecordedEvent) {
        self.clock.set(Some(event.at));
        self.begin();
        let mut session = None;
        event.tell("", &mut |event: &RunEvent<'_>| match event.kind {
            RunEventKind::SessionStarted { .. } => session = Some(true),
            RunEventKind::SessionEnded { .. } => session = Some(false),
            _ => {}
        });
        if let Some(is_in_session) = session {
            self.is_in_session = is_in_session;
            if is_in_session {
                self.session_began = Some(event.at);
                self.end_wait();
            }
        }
        self.sessions.tell(event);
        self.clock.set(None);
    }

    /// Tells once that the run began.
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let (run, mode) = (&self.run, self.mode);
            self.events.emit(RunEventKind::RunStarted { run, mode });
        }
    }

    /// Tells that the run is over.
    pub(super) fn end(&mut self, report: &RunReport) {
        self.begin();
        self.end_wait();
        if let ExitReason::BudgetExceeded { budget } = report.exit {
            self.events.emit(RunEventKind::BudgetSpent { budget });
        }
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

    fn kinds(told: &[Value]) -> Vec<&str> {
        let kind = |event: &Value| event["event"].as_str().map(|_| ());
        assert!(told.iter().all(|event| kind(event).is_some()));
        told.iter()
            .filter_map(|event| event["event"].as_str())
            .collect()
    }

    fn event(at: &str, what: Value) -> RecordedEvent {
        let mut event = json!({"at": at, "traceId": format!("{:032x}", 1),
            "spanId": format!("{:016x}", 1)});
        let Value::Object(what) = what else {
            panic!("{what}");
        };
        event.as_object_mut().expect("an object").extend(what);
        serde_json::from_value(event).expect("an event")
    }

    fn session_started(at: &str) -> RecordedEvent {
        let what = json!({"event": "session_started", "number": 1, "instruction": "coding"});
        event(at, what)
    }

    fn session_ended(at: &str) -> RecordedEvent {
        let tokens =
            json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0});
        let result = json!({"end": "outcome", "outcome": "completed", "tokens": tokens,
            "cost": {"knownUsd": "0.05", "unknownParts": 0}, "durationMs": 2000,
            "activity": "some"});
        event(
            at,
            json!({"event": "session_ended", "number": 1, "result": result}),
        )
    }

    fn waiting(reason: WaitReason, until: &str) -> RunView {
        let mut view = RunView::new(RunId::new("shop-1"));
        view.wait = Some(RunWait::new(reason, until.parse().expect("a time")));
        view
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
        let started = "session_started";
        assert_eq!(kinds(&told), ["run_started", started, "paused", started]);
        for number in [0, 1] {
            assert_eq!(told[number]["at"], "2026-01-01T00:00:00Z");
        }
        assert_eq!(told[3]["at"], "2026-01-01T00:00:07Z");
        assert!(times[2] >= before, "{times:?}");
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

        assert_eq!(told[0]["event"], "run_started");
        let told: Vec<_> = told[1..].iter().map(|event| &event["message"]).collect();
        let expected = ["The run does not come on: a", "The run does not come on: b"];
        assert_eq!(told, expected);
    }

    #[test]
    fn that_nobody_answers_changes_nothing() {
        let mut paused = RunView::new(RunId::new("shop-1"));
        paused.phase = RunPhase::Paused;
        let waits = waiting(WaitReason::RetryAfter, "2026-01-01T00:05:00Z");
        let mut silent = RunView::new(RunId::new("shop-1"));
        silent.at = None;

        let told = told(|retelling| {
            for view in [&paused, &silent, &paused, &waits, &silent, &waits] {
                retelling.stands(view);
            }
        });

        let expected = ["run_started", "paused", "resumed", "wait_started"];
        assert_eq!(kinds(&told), expected);
    }

    #[test]
    fn a_wait_begins_and_ends_once_between_sessions() {
        let soon = waiting(WaitReason::Quota, "2026-01-01T00:05:00Z");

        let told = told(|retelling| {
            retelling.tell(&session_started("2026-01-01T00:00:00Z"));
            retelling.tell(&session_ended("2026-01-01T00:01:00Z"));
            retelling.stands(&soon);
            retelling.stands(&soon);
            retelling.tell(&session_started("2026-01-01T00:05:00Z"));
            // Seen before the session began.
            retelling.stands(&soon);
            retelling.tell(&session_ended("2026-01-01T00:06:00Z"));
            retelling.stands(&soon);
        });

        let expected = [
            "run_started",
            "session_started",
            "session_ended",
            "wait_started",
            "wait_tick",
            "wait_tick",
            "wait_ended",
            "session_started",
            "session_ended",
        ];
        assert_eq!(kinds(&told), expected);
        assert_eq!(told[6]["at"], "2026-01-01T00:05:00Z");
    }
}
