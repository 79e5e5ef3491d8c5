//! Tests of messages, pauses and questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::run::RunMessage;
use autonoe_harness::recovery::Attendance;
use autonoe_harness::work::{WorkEvent, WorkJournal};
use autonoe_testkit::SessionScript;

use crate::work::fixture::{Fixture, Turns, does_it, order, task, text_turn};

fn count(prompts: &[String], text: &str) -> Vec<usize> {
    prompts
        .iter()
        .map(|prompt| prompt.matches(text).count())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn lesson_2_a_message_reaches_the_next_turn_exactly_once() {
    let turns = Turns::new([
        text_turn("One."),
        text_turn("Two."),
        text_turn("Three."),
        does_it(),
    ]);
    let fixture = Fixture::new(&turns);
    let control = fixture.control.clone();
    control.instruct("Use tabs.");
    let order = order([task("T-1")]);

    let ((outcome, _), ()) = tokio::join!(fixture.run(&order), async {
        // During the second turn, which cannot receive it.
        tokio::time::sleep(Duration::from_secs(90)).await;
        control.instruct("Use spaces.");
    });

    assert!(outcome.is_success(), "{outcome:?}");
    let prompts = turns.prompts();
    assert_eq!(count(&prompts, "Use tabs."), [1, 0, 0, 0]);
    assert_eq!(count(&prompts, "Use spaces."), [0, 0, 1, 0]);
    let delivered = [(1, "Use tabs.".to_owned()), (3, "Use spaces.".to_owned())];
    assert_eq!(fixture.delivered(), delivered);
}

#[tokio::test(start_paused = true)]
async fn lesson_2_an_unread_message_is_delivered_again() {
    let broken = SessionScript::new("turn").fails(AgentErrorKind::Overloaded, "no answer");
    let turns = Turns::new([broken, text_turn("Two."), does_it()]);
    let fixture = Fixture::new(&turns);
    fixture.control.instruct("Use tabs.");

    let (outcome, _) = fixture.run(&order([task("T-1")])).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fixture.delivered(), [(2, "Use tabs.".to_owned())]);
    assert_eq!(count(&turns.prompts()[1..], "Use tabs."), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_arrives_too_late_is_reported() {
    let turns = Turns::new([does_it()]);
    let fixture = Fixture::new(&turns);
    let control = fixture.control.clone();
    let order = order([task("T-1")]);

    let ((outcome, _), ()) = tokio::join!(fixture.run(&order), async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        control.instruct("Use tabs.");
    });

    assert!(outcome.is_success(), "{outcome:?}");
    let undelivered = vec!["Use tabs.".to_owned()];
    assert_eq!(
        fixture.events().last(),
        Some(&WorkEvent::Closed { undelivered })
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_in_a_turn_holds_the_next_one() {
    let turns = Turns::new([text_turn("One."), does_it()]);
    let fixture = Fixture::new(&turns);
    let control = fixture.control.clone();
    let order = order([task("T-1")]);

    let ((outcome, result), ()) = tokio::join!(fixture.run(&order), async {
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
    let fixture = Fixture::new(&turns);
    let control = fixture.control.clone();
    control.pause();
    let order = order([task("T-1")]);

    let ((outcome, _), ()) = tokio::join!(fixture.run(&order), async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        control.cancel();
    });

    assert!(!outcome.is_success());
    assert_eq!(fixture.elapsed(), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn task_time_excludes_waiting_for_the_user() {
    let same = || text_turn("Same.");
    let turns = Turns::new([same(), same(), same(), does_it()]);
    let fixture = Fixture::new(&turns);
    let control = fixture.control.clone();
    let mut order = order([task("T-1")]);
    order.attendance = Attendance::Attended;
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");

    let question_of = || {
        let reports = fixture.reports.lock().expect("a lock");
        reports.last().and_then(|at| at.question.clone())
    };

    let ((outcome, result), ()) = tokio::join!(fixture.run(&order), async {
        tokio::time::sleep(Duration::from_secs(7200)).await;
        assert_eq!(turns.prompts().len(), 3);
        let question = question_of().expect("it asks");
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
    assert_eq!(question_of(), None);

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.duration, Duration::from_secs(7260));
    assert_eq!(fixture.recoveries(), ["person 1"]);
    assert_eq!(
        fixture.delivered(),
        [(4, "It belongs into the root.".to_owned())]
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_killed_while_asking_repeats_its_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("work.jsonl");
    let mut order = order([task("T-1")]);
    order.attendance = Attendance::Attended;
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");
    let mut questions = Vec::new();
    for is_killed in [true, false] {
        let turns = if is_killed {
            Turns::new((0..3).map(|_| text_turn("Same.")))
        } else {
            Turns::new([does_it()])
        };
        let mut fixture = Fixture::new(&turns);
        let journal = WorkJournal::open(&path).expect("a journal");
        fixture.work = fixture.work.observer(Arc::new(journal));

        let running = tokio::time::timeout(Duration::from_secs(7200), fixture.run(&order));
        let (ended, ()) = tokio::join!(running, async {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            let reports = fixture.reports.lock().expect("a lock").clone();
            questions.extend(reports.last().and_then(|at| at.question.clone()));
            if !is_killed {
                fixture.control.instruct("Into the root.");
            }
        });

        // Dropping the run is equivalent to a kill.
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
async fn a_stuck_unattended_task_fails_with_the_reason() {
    let turns = Turns::new((0..3).map(|_| text_turn("Same.")));
    let fixture = Fixture::new(&turns);
    let mut order = order([task("T-1")]);
    order.ladder = serde_json::from_str(r#"[{"type": "person"}]"#).expect("a ladder");

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    assert!(
        error.contains("person: nobody is available to answer"),
        "{error}"
    );
    let reports = fixture.reports.lock().expect("a lock");
    assert!(reports.iter().all(|at| at.question.is_none()));
}

#[tokio::test(start_paused = true)]
async fn lesson_2_a_message_delivered_before_a_restart_is_not_delivered_again() {
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
    let mut delivered = Vec::new();
    for id in ["T-1", "T-2"] {
        let turns = Turns::new([does_it()]);
        let mut fixture = Fixture::new(&turns);
        let journal = WorkJournal::open(&path).expect("a journal");
        fixture.work = fixture.work.observer(Arc::new(journal));
        fixture.control.send_message(message());

        let (outcome, _) = fixture.run(&order([task(id)])).await;

        assert!(outcome.is_success(), "{outcome:?}");
        delivered.extend(count(&turns.prompts(), "Use tabs."));
    }

    assert_eq!(delivered, [1, 0]);
    assert_eq!(receipts.load(Ordering::SeqCst), 2);
    let events = WorkJournal::read(&path).expect("a journal");
    let with_it = |event: &&WorkEvent| matches!(event, WorkEvent::IterationEnded { messages, .. } if !messages.is_empty());
    assert_eq!(events.iter().filter(with_it).count(), 1);
}
