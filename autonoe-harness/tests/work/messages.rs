//! What persons say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use autonoe_core::{AgentErrorKind, RunMessage};
use autonoe_harness::{Attendance, WorkEvent, WorkJournal};
use autonoe_testkit::SessionScript;

use crate::work::setting::{Stage, Turns, does_it, order, says, task};

fn count(prompts: &[String], text: &str) -> Vec<usize> {
    prompts
        .iter()
        .map(|prompt| prompt.matches(text).count())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn lesson_2_what_a_person_says_reaches_the_next_turn_exactly_once() {
    let turns = Turns::new([says("One."), says("Two."), says("Three."), does_it()]);
    let stage = Stage::new(&turns);
    let control = stage.control.clone();
    control.instruct("Use tabs.");
    let order = order([task("T-1")]);

    let ((outcome, _), ()) = tokio::join!(stage.run(&order), async {
        // In the middle of the second turn, which cannot take it.
        tokio::time::sleep(Duration::from_secs(90)).await;
        control.instruct("Use spaces.");
    });

    assert!(outcome.is_success(), "{outcome:?}");
    let prompts = turns.prompts();
    assert_eq!(count(&prompts, "Use tabs."), [1, 0, 0, 0]);
    assert_eq!(count(&prompts, "Use spaces."), [0, 0, 1, 0]);
    let told = [(1, "Use tabs.".to_owned()), (3, "Use spaces.".to_owned())];
    assert_eq!(stage.told(), told);
}

#[tokio::test(start_paused = true)]
async fn lesson_2_what_nobody_read_is_told_again() {
    let broken = SessionScript::new("turn").fails(AgentErrorKind::Overloaded, "no answer");
    let turns = Turns::new([broken, says("Two."), does_it()]);
    let stage = Stage::new(&turns);
    stage.control.instruct("Use tabs.");

    let (outcome, _) = stage.run(&order([task("T-1")])).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(stage.told(), [(2, "Use tabs.".to_owned())]);
    assert_eq!(count(&turns.prompts()[1..], "Use tabs."), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_too_late_is_not_forgotten_silently() {
    let turns = Turns::new([does_it()]);
    let stage = Stage::new(&turns);
    let control = stage.control.clone();
    let order = order([task("T-1")]);

    let ((outcome, _), ()) = tokio::join!(stage.run(&order), async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        control.instruct("Use tabs.");
    });

    assert!(outcome.is_success(), "{outcome:?}");
    let untold = vec!["Use tabs.".to_owned()];
    assert_eq!(stage.events().last(), Some(&WorkEvent::Closed { untold }));
}

#[tokio::test(start_paused = true)]
async fn a_pause_in_a_turn_holds_the_next_one() {
    let turns = Turns::new([says("One."), does_it()]);
    let stage = Stage::new(&turns);
    let control = stage.control.clone();
    let order = order([task("T-1")]);

    let ((outcome, result), ()) = tokio::join!(stage.run(&order), async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        control.pause();
        tokio::time::sleep(Duration::from_secs(3590)).await;
        assert_eq!(turns.prompts().len(), 1);
        control.resume();
    });

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.duration, Duration::from_secs(3660));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_paused_can_be_cancelled() {
    let turns = Turns::new([]);
    let stage = Stage::new(&turns);
    let control = stage.control.clone();
    control.pause();
    let order = order([task("T-1")]);

    let ((outcome, _), ()) = tokio::join!(stage.run(&order), async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        control.cancel();
    });

    assert!(!outcome.is_success());
    assert_eq!(stage.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_person_who_is_asked_is_waited_for() {
    let same = || says("Same.");
    let turns = Turns::new([same(), same(), same(), does_it()]);
    let stage = Stage::new(&turns);
    let control = stage.control.clone();
    let mut order = order([task("T-1")]);
    order.attendance = Attendance::Attended;
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");

    let ((outcome, result), ()) = tokio::join!(stage.run(&order), async {
        tokio::time::sleep(Duration::from_secs(7200)).await;
        assert_eq!(turns.prompts().len(), 3);
        control.instruct("It belongs into the root.");
    });

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.duration, Duration::from_secs(7260));
    assert_eq!(stage.recoveries(), ["person 1"]);
    assert_eq!(stage.told(), [(4, "It belongs into the root.".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn lesson_2_what_was_told_before_a_restart_is_settled_and_not_told_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("work.jsonl");
    let receipts = Arc::new(AtomicUsize::new(0));
    let message = || {
        let receipts = receipts.clone();
        let message = RunMessage::new("Use tabs.").with_id("7");
        message.with_receipt(move || {
            receipts.fetch_add(1, Ordering::SeqCst);
        })
    };
    let mut told = Vec::new();
    for id in ["T-1", "T-2"] {
        let turns = Turns::new([does_it()]);
        let mut stage = Stage::new(&turns);
        let journal = WorkJournal::open(&path).expect("a journal");
        stage.work = stage.work.observed_by(Arc::new(journal));
        stage.control.tell(message());

        let (outcome, _) = stage.run(&order([task(id)])).await;

        assert!(outcome.is_success(), "{outcome:?}");
        told.extend(count(&turns.prompts(), "Use tabs."));
    }

    assert_eq!(told, [1, 0]);
    assert_eq!(receipts.load(Ordering::SeqCst), 2);
    let events = WorkJournal::read(&path).expect("a journal");
    let with_it =
        |event: &&WorkEvent| matches!(event, WorkEvent::Iterated { told, .. } if !told.is_empty());
    assert_eq!(events.iter().filter(with_it).count(), 1);
}
