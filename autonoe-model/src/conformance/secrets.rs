//! What must be found nowhere.

use autonoe_testkit::conformance::{Checks, Finding, Flaw};
use tracing::Level;

use super::answers::{PROMPT, SYSTEM, TEXT, THOUGHT, request};
use super::captured_log::CapturedLog;
use super::heard::{Ear, Heard};
use super::refusals::is_silent_about;
use super::{BrokenStream, ModelHarness, Scenario};

pub(super) async fn check(checks: &mut Checks, ear: &Ear<'_>, harness: &dyn ModelHarness) {
    let in_stream = Scenario::Breaks {
        text: TEXT.to_owned(),
        how: BrokenStream::RepeatsKey,
    };
    for (check, scenario) in [
        (
            "a key that a refusal repeats is in no error",
            Scenario::RepeatsKey,
        ),
        ("a key that a stream repeats is in no error", in_stream),
    ] {
        checks
            .run(check, async {
                let heard = ear.play(&scenario, &request()).await?;
                is_silent_about(heard.error()?, harness.key())
            })
            .await;
    }
    checks
        .run("a key is not in what a program can print", async {
            let shown = harness.shown();
            if shown.is_empty() {
                return Err(Flaw::Untestable("nothing is shown".to_owned()));
            }
            none_has(&shown, &[harness.key()])
        })
        .await;
}

/// Looks at all that was heard and logged meanwhile.
pub(super) fn look(
    checks: &mut Checks,
    heard: &[Heard],
    log: &CapturedLog,
    harness: &dyn ModelHarness,
) {
    checks.look("no key is in any event or error", || {
        let shown: Vec<_> = heard
            .iter()
            .map(|heard| format!("{:?} {:?} {:?}", heard.events, heard.end, heard.after))
            .collect();
        none_has(&shown, &[harness.key()])
    });
    checks.look("no key is in any log", || {
        none_has(&log.lines(Level::TRACE), &[harness.key()])
    });
    checks.look("no prompt and no answer is in a log above TRACE", || {
        none_has(&log.lines(Level::DEBUG), &[PROMPT, SYSTEM, TEXT, THOUGHT])
    });
}

fn none_has(shown: &[String], words: &[&str]) -> Finding {
    let shows = |line: &&String| words.iter().any(|word| line.contains(word));
    let Some(line) = shown.iter().find(shows) else {
        return Ok(());
    };
    let hidden = words
        .iter()
        .fold(line.clone(), |line, word| line.replace(word, "<it>"));
    Err(Flaw::Failed(format!("it is in {hidden:?}")))
}
