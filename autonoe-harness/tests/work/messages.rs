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
async fn the_time_of_a_task_does_not_run_while_it_asks_a_person() {
    let same = || says("Same.");
    let turns = Turns::new([same(), same(), same(), does_it()]);
    let stage = Stage::new(&turns);
    let control = stage.control.clone();
    let mut order = order([task("T-1")]);
    order.attendance = Attendance::Attended;
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");

    let asked = || {
        let reports = stage.reports.lock().expect("a lock");
        reports.last().and_then(|at| at.question.clone())
    };

    let ((outcome, result), ()) = tokio::join!(stage.run(&order), async {
        tokio::time::sleep(Duration::from_secs(7200)).await;
        assert_eq!(turns.prompts().len(), 3);
        let question = asked().expect("it asks");
        assert!(
            question.starts_with("The task T-1 is stuck: "),
            "{question}"
        );
        assert!(
            question.ends_with("What should the agent do?"),
            "{question}"
        );
        control.instruct("It belongs into the root.");
    });
    assert_eq!(asked(), None);

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.duration, Duration::from_secs(7260));
    assert_eq!(stage.recoveries(), ["person 1"]);
    assert_eq!(stage.told(), [(4, "It belongs into the root.".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_while_it_asks_a_person_asks_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("work.jsonl");
    let mut order = order([task("T-1")]);
    order.attendance = Attendance::Attended;
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");
    let mut questions = Vec::new();
    for is_killed in [true, false] {
        let turns = match is_killed {
            true => Turns::new((0..3).map(|_| says("Same."))),
            false => Turns::new([does_it()]),
        };
        let mut stage = Stage::new(&turns);
        let journal = WorkJournal::open(&path).expect("a journal");
        stage.work = stage.work.observed_by(Arc::new(journal));

        let running = tokio::time::timeout(Duration::from_secs(7200), stage.run(&order));
        let (ended, ()) = tokio::join!(running, async {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            let reports = stage.reports.lock().expect("a lock").clone();
            questions.extend(reports.last().and_then(|at| at.question.clone()));
            if !is_killed {
                stage.control.instruct("Into the root.");
            }
        });

        // Dropping the run is what a kill leaves of it.
        assert_eq!(ended.is_err(), is_killed);
        if let Ok((outcome, _)) = ended {
            assert!(outcome.is_success(), "{outcome:?}");
            assert_eq!(count(&turns.prompts(), "Into the root."), [1]);
        }
    }
    assert_eq!(questions.len(), 2);
    assert_eq!(questions[0], questions[1]);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_task_that_nobody_attends_fails_and_says_so() {
    let turns = Turns::new((0..3).map(|_| says("Same.")));
    let stage = Stage::new(&turns);
    let mut order = order([task("T-1")]);
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");

    let (outcome, result) = stage.run(&order).await;

    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    assert!(error.contains("person: nobody looks after it"), "{error}");
    let reports = stage.reports.lock().expect("a lock");
    assert!(reports.iter().all(|at| at.question.is_none()));
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
