//! Checks that keys and prompts do not leak into errors, events and logs.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_testkit::conformance::{CheckOutcome, Checks, Flaw};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::answers::{PROMPT, SYSTEM, TEXT, THOUGHT, request};
use super::failed_calls::does_not_contain;
use super::recorded_answer::{RecordedAnswer, Recorder};
use super::{BrokenStream, ModelHarness, ProviderScenario};

pub(super) async fn check(
    checks: &mut Checks,
    recorder: &Recorder<'_>,
    harness: &dyn ModelHarness,
) {
    let in_stream = ProviderScenario::Breaks {
        text: TEXT.to_owned(),
        kind: BrokenStream::RepeatsKey,
    };
    for (check, scenario) in [
        (
            "a key that a refusal repeats is in no error",
            ProviderScenario::RepeatsKey,
        ),
        ("a key that a stream repeats is in no error", in_stream),
    ] {
        checks
            .run(check, async {
                let recorded = recorder.play(&scenario, &request()).await?;
                does_not_contain(recorded.error()?, harness.key())
            })
            .await;
    }
    checks
        .run(
            "a key is in no Debug output and no serialized value",
            async {
                let printed = harness.printed();
                if printed.is_empty() {
                    return Err(Flaw::Untestable("nothing is shown".to_owned()));
                }
                none_has(&printed, &[harness.key()])
            },
        )
        .await;
}

/// Searches all recorded answers and logs.
pub(super) fn check_logs(
    checks: &mut Checks,
    recorded: &[RecordedAnswer],
    log: &CapturedLog,
    harness: &dyn ModelHarness,
) {
    checks.run_sync("no key is in any event or error", || {
        let printed: Vec<_> = recorded
            .iter()
            .map(|recorded| {
                format!(
                    "{:?} {:?} {:?}",
                    recorded.events, recorded.end, recorded.after
                )
            })
            .collect();
        none_has(&printed, &[harness.key()])
    });
    checks.run_sync("no key is in any log", || {
        none_has(&log.lines(Level::TRACE), &[harness.key()])
    });
    checks.run_sync("no prompt and no answer is in a log above TRACE", || {
        none_has(&log.lines(Level::DEBUG), &[PROMPT, SYSTEM, TEXT, THOUGHT])
    });
}

fn none_has(printed: &[String], words: &[&str]) -> CheckOutcome {
    let shows = |line: &&String| words.iter().any(|word| line.contains(word));
    let Some(line) = printed.iter().find(shows) else {
        return Ok(());
    };
    let hidden = words
        .iter()
        .fold(line.clone(), |line, word| line.replace(word, "<it>"));
    Err(Flaw::Failed(format!("it is in {hidden:?}")))
}

/// Subscriber that captures all spans and events with their levels.
#[derive(Clone, Debug, Default)]
pub(super) struct CapturedLog(Arc<Mutex<Vec<(Level, String)>>>);

impl CapturedLog {
    /// Returns all lines of this level or a more severe one.
    pub(super) fn lines(&self, least: Level) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // More severe levels compare as less.
        let grave = lines.iter().filter(|(level, _)| *level <= least);
        grave.map(|(_, line)| line.clone()).collect()
    }

    fn keep(&self, level: Level, record: impl FnOnce(&mut Line)) {
        let mut line = Line(String::new());
        record(&mut line);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((level, line.0));
    }
}

struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        // Without quotes, so that nothing is escaped.
        let _ = write!(self.0, "{field}={value} ");
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

impl Subscriber for CapturedLog {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.keep(*span.metadata().level(), |line| span.record(line));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        // The level of the span is unknown here, so the line counts as the most severe one.
        self.keep(Level::ERROR, |line| values.record(line));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.keep(*event.metadata().level(), |line| event.record(line));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
