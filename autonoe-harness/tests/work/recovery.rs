//! Tests of recovering a stuck agent.

use autonoe_core::agent::AgentErrorKind;
use autonoe_harness::recovery::{
    AskPerson, BackendModel, Escalation, Exploration, Ladder, PromptMutation,
};
use autonoe_harness::work::WorkEvent;
use autonoe_testkit::SessionScript;

use crate::work::fixture::{Fixture, Turns, does_it, order, task, text_turn};

// Shows: fleets/recovery/success, fleets/recovery/apply
#[tokio::test(start_paused = true)]
async fn the_ladder_is_climbed_until_something_helps() {
    // Three turns until it is stuck, and one for each of three prompts.
    let usual = Turns::new((0..6).map(|_| text_turn("Same.")));
    let strong = Turns::new([does_it()]);
    let fixture = Fixture::with_backends([("usual", &usual), ("strong", &strong)]);
    let mut order = order([task("T-1")]);
    order.ladder = Ladder::none()
        .then(PromptMutation::default())
        .then(Escalation::new([BackendModel {
            model: Some("big".to_owned()),
            ..BackendModel::new("strong")
        }]));

    let (outcome, result) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(
        fixture.recoveries(),
        ["rephrase", "decompose", "constrain", "strong/big"]
    );
    assert_eq!(result.failures, 6);
    let prompts = usual.prompts();
    assert!(
        prompts[..3]
            .iter()
            .all(|prompt| prompt.starts_with("## Goal\nWrite out.txt."))
    );
    assert!(prompts[3].contains("Say in one sentence"), "{}", prompts[3]);
    assert!(
        prompts[4].contains("at most five small steps"),
        "{}",
        prompts[4]
    );
    let ended = fixture
        .events()
        .into_iter()
        .rev()
        .find_map(|event| match event {
            WorkEvent::IterationEnded { cli, model, .. } => Some((cli, model)),
            _ => None,
        });
    assert_eq!(ended, Some(("strong".to_owned(), Some("big".to_owned()))));
}

#[tokio::test(start_paused = true)]
async fn the_backends_that_a_task_names_continue_before_the_ladder_is_climbed() {
    let first = Turns::new((0..3).map(|_| text_turn("Same.")));
    let second = Turns::new([text_turn("Same."), does_it()]);
    let fixture = Fixture::with_backends([("first", &first), ("second", &second)]);
    let mut order = order([task("T-1").cli("first")]);
    order.tasks[0].fallbacks = vec!["second".to_owned()];
    order.ladder = Ladder::none().then(PromptMutation::default());

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fixture.recoveries(), ["second", "rephrase"]);
    assert_eq!((first.prompts().len(), second.prompts().len()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stuck_agent_without_recovery_fails_with_the_skipped_strategies() {
    let turns = Turns::new((0..4).map(|_| text_turn("Same.")));
    let fixture = Fixture::new(&turns);
    let mut order = order([task("T-1")]);
    order.ladder = serde_json::from_str(
        r#"[{"type": "prompt", "uses": 1}, {"type": "escalate"}, {"type": "explore"}, {"type": "person"}]"#,
    )
    .expect("a ladder");

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    for part in [
        "the task is stuck (no progress after a recovery",
        "escalate: there is no further backend",
        "explore: the agent has no worktree",
        "person: nobody is available to answer",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_cannot_begin_is_left_at_once_for_another() {
    let broken = SessionScript::new("turn").fails(AgentErrorKind::Authentication, "no login");
    let (usual, strong) = (Turns::new([broken]), Turns::new([does_it()]));
    let fixture = Fixture::with_backends([("usual", &usual), ("strong", &strong)]);
    let mut order = order([task("T-1")]);
    order.ladder = Ladder::none()
        .then(PromptMutation::default())
        .then(Escalation::new([
            BackendModel::new("nobody"),
            BackendModel::new("strong"),
        ]))
        .then(Exploration::default())
        .then(AskPerson::default());

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fixture.recoveries(), ["nobody", "strong"]);
}
