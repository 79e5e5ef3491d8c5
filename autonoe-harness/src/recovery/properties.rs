//! Tests and properties of recovery ladders.

use std::time::Duration;

use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};
use autonoe_core::{Budget, CostUsd};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::budget::{Allowance, Spending};
use crate::executor::Task;
use crate::stuck::{StuckLevel, StuckReason, StuckReport};

fn context(reasons: Vec<StuckReason>) -> LoopContext {
    let task = Task::new("T-1", "Add a login page.").expect("an id");
    let report = StuckReport {
        level: StuckLevel::Stuck,
        reasons,
    };
    let mut context = LoopContext::new(task, "codex", report);
    context.work_folder_kind = WorkFolderKind::Worktree;
    context.attendance = Attendance::Attended;
    context
}

/// Applies the whole ladder, and returns the labels of its steps and the skipped strategies.
fn steps(ladder: &Ladder, context: &LoopContext) -> (Vec<(String, String)>, Vec<SkippedStrategy>) {
    let (mut recovery_attempt, mut steps, mut passed_over) =
        (RecoveryAttempt::default(), Vec::new(), Vec::new());
    for _ in 0..1000 {
        let recovery = ladder.next_step(&mut recovery_attempt, context);
        passed_over.extend(recovery.skipped);
        match recovery.step {
            Some((strategy, step)) => steps.push((strategy, step.label)),
            None => return (steps, passed_over),
        }
    }
    panic!("it never ends: {steps:?}");
}

fn labels(ladder: &Ladder, context: &LoopContext) -> Vec<String> {
    let (steps, _) = steps(ladder, context);
    steps.into_iter().map(|(_, label)| label).collect()
}

fn of_model(cli: &str, model: &str) -> BackendModel {
    BackendModel {
        model: Some(model.to_owned()),
        ..BackendModel::new(cli)
    }
}

fn escalation() -> Escalation {
    Escalation::new([
        BackendModel::new("gemini"),
        BackendModel::new("codex"),
        of_model("codex", "gpt-5.5"),
        of_model("claude", "opus"),
    ])
}

#[test]
fn the_default_ladder_is_climbed_rung_by_rung() {
    let ladder = Ladder::none()
        .then(PromptMutation::default())
        .then(escalation())
        .then(Exploration::default())
        .then(AskPerson::default());

    let labels = labels(&ladder, &context(vec![StuckReason::NoProgress(3)]));

    let expected = [
        "decompose",
        "rephrase",
        "constrain",
        // The current model is the second of the list, so only those after it are used.
        "codex/gpt-5.5",
        "claude/opus",
        "explore",
        "person 1",
        "person 2",
        "person 3",
    ];
    assert_eq!(labels, expected);
}

#[test]
fn the_first_prompt_matches_the_reason() {
    for (reason, first) in [
        (StuckReason::NoProgress(3), "decompose"),
        (StuckReason::RepeatedError(3), "negative"),
        (StuckReason::RepeatedAction(5), "negative"),
        (StuckReason::AlternatingPair(3), "negative"),
        (StuckReason::IdenticalOutput(3), "rephrase"),
        (StuckReason::SuspiciousSpeed(3), "examples"),
        (StuckReason::Denied(3), "constrain"),
        (StuckReason::NotRecovered, "rephrase"),
    ] {
        let step = PromptMutation::default().apply(&context(vec![reason]));
        assert_eq!(step.label, first, "{reason}");
        let RecoveryChange::Prompt { goal } = step.change else {
            panic!("it changes the prompt");
        };
        assert!(goal.contains("Add a login page."), "{goal}");
    }
}

#[test]
fn a_strategy_that_cannot_help_is_skipped_with_a_reason() {
    type Change = fn(&mut LoopContext);
    let table: [(Change, &str, &str); 5] = [
        (
            |it| it.backend_failed = true,
            "prompt",
            "the backend itself failed",
        ),
        (|_| {}, "escalate", "no further backend"),
        (
            |it| it.work_folder_kind = WorkFolderKind::Folder,
            "explore",
            "no worktree",
        ),
        (
            |it| it.free.sessions = Some(2),
            "explore",
            "does not pay for 3 branches",
        ),
        (
            |it| it.attendance = Attendance::Unattended,
            "person",
            "nobody is available to answer",
        ),
    ];
    for (change, strategy, reason) in table {
        let mut context = context(vec![StuckReason::NoProgress(3)]);
        change(&mut context);

        let (steps, passed_over) = steps(&Ladder::default(), &context);

        assert!(steps.iter().all(|(name, _)| name != strategy), "{strategy}");
        let found = passed_over
            .iter()
            .find(|passed| passed.strategy == strategy);
        let found = found.expect("it was passed over");
        assert!(found.reason.contains(reason), "{found:?}");
    }
}

#[test]
fn a_branch_has_as_many_iterations_as_can_be_paid() {
    for (sessions, each) in [(None, 10), (Some(100), 10), (Some(29), 9), (Some(3), 1)] {
        let mut context = context(Vec::new());
        context.free.sessions = sessions;
        let step = Exploration::default().apply(&context);
        let RecoveryChange::Explore {
            branches,
            iterations,
        } = &step.change
        else {
            panic!("it explores");
        };
        assert_eq!((branches.len(), *iterations), (3, each));
        assert!(context.check_affordable(step.iterations()).is_ok());
    }
}

#[test]
fn a_backend_that_cannot_be_paid_is_skipped() {
    let dollars = |cents| Allowance::new(Budget::default().with_cost(CostUsd::from_cents(cents)));
    let needing = |cli: &str, cents| BackendModel {
        needs: dollars(cents),
        ..BackendModel::new(cli)
    };
    let (dear, cheap) = (needing("claude", 500), needing("gemini", 50));
    let mut context = context(Vec::new());
    context.free = dollars(100);

    let labels = labels(
        &Ladder::none().then(Escalation::new([dear, cheap])),
        &context,
    );

    assert_eq!(labels, ["gemini"]);
}

/// Always applies, and reserves many iterations; repeats its label unless `changing`.
#[derive(Debug, Serialize, Deserialize)]
struct Greedy {
    changing: bool,
}

#[typetag::serde(name = "test-greedy")]
impl RecoveryStrategy for Greedy {
    fn max_uses(&self) -> u32 {
        u32::MAX
    }

    fn can_apply(&self, _: &LoopContext) -> Result<(), String> {
        Ok(())
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let label = if self.changing {
            format!("{}", context.used.len())
        } else {
            "same".to_owned()
        };
        let branch = ExplorationBranch {
            name: "b".to_owned(),
            goal: "g".to_owned(),
        };
        let change = RecoveryChange::Explore {
            branches: vec![branch],
            iterations: 1000,
        };
        RecoveryStep::new(label, "more", change)
    }
}

#[test]
fn a_greedy_strategy_of_a_consumer_is_held_to_the_rules() {
    let ladder: Ladder = serde_json::from_str(
        r#"[{"type": "test-greedy", "changing": false}, {"type": "person", "uses": 1}]"#,
    )
    .expect("a ladder");

    assert_eq!(labels(&ladder, &context(Vec::new())), ["same", "person 1"]);

    let mut poor = context(Vec::new());
    poor.free.sessions = Some(999);
    assert_eq!(labels(&ladder, &poor), ["person 1"]);
}

#[test]
fn a_ladder_is_read_as_it_was_written() {
    let ladder = Ladder::default().then(escalation());
    let json = serde_json::to_string(&ladder).expect("it serialises");

    assert_eq!(
        serde_json::from_str::<Ladder>(&json).expect("a ladder"),
        ladder
    );
    assert!(serde_json::from_str::<Ladder>(r#"[{"type": "unheard-of"}]"#).is_err());
    assert!(serde_json::from_str::<Ladder>(r#"[{"type": "prompt", "use": 1}]"#).is_err());
}

fn any_reasons() -> impl Strategy<Value = Vec<StuckReason>> {
    let reasons = [
        StuckReason::NoProgress(3),
        StuckReason::RepeatedError(3),
        StuckReason::Denied(3),
        StuckReason::NotRecovered,
        StuckReason::IdenticalOutput(5),
    ];
    prop::sample::subsequence(reasons.to_vec(), 0..=reasons.len())
}

fn any_ladder() -> impl Strategy<Value = Ladder> {
    let rung = prop_oneof![
        (0_u32..7).prop_map(|uses| Ladder::none().then(PromptMutation {
            uses,
            ..PromptMutation::default()
        })),
        Just(Ladder::none().then(escalation())),
        (0_u32..5, 0_u32..12).prop_map(|(branches, iterations)| {
            Ladder::none().then(Exploration {
                branches,
                iterations,
            })
        }),
        (0_u32..4).prop_map(|uses| Ladder::none().then(AskPerson { uses })),
        Just(Ladder::none().then(Greedy { changing: false })),
    ];
    let join = |ladders: Vec<Ladder>| {
        let json = ladders.iter().flat_map(|ladder| {
            let json = serde_json::to_value(ladder).expect("it serialises");
            json.as_array().cloned().unwrap_or_default()
        });
        let json = serde_json::Value::Array(json.collect());
        serde_json::from_value(json).expect("a ladder")
    };
    prop::collection::vec(rung, 0..6).prop_map(join)
}

proptest! {
    /// The ladder ends, repeats nothing within a rung, never goes back, and each step can be paid.
    #[test]
    fn a_ladder_ends_repeats_nothing_and_stays_inside_the_budget(
        ladder in any_ladder(),
        reasons in any_reasons(),
        sessions in prop::option::of(0_u64..60),
        cents in prop::option::of(0_u64..1000),
        cents_each in 0_u64..100,
        backend_failed: bool,
        attended: bool,
    ) {
        let mut context = context(reasons);
        context.backend_failed = backend_failed;
        if !attended {
            context.attendance = Attendance::Unattended;
        }
        context.free.sessions = sessions;
        context.free.budget.cost_usd = cents.map(CostUsd::from_cents);
        context.costliest_iteration = Spending {
            spent: BudgetUsage {
                cost: CostTotal::known(CostUsd::from_cents(cents_each)),
                tokens: TokenUsage::default(),
                time: Duration::ZERO,
            },
            sessions: 1,
        };
        let (mut recovery_attempt, mut rung, mut used) = (RecoveryAttempt::default(), 0, Vec::new());
        for count in 0.. {
            prop_assert!(count < 200, "it never ends");
            let recovery = ladder.next_step(&mut recovery_attempt, &context);
            let Some((_, step)) = recovery.step else { break };
            prop_assert!(recovery_attempt.rung >= rung);
            if recovery_attempt.rung > rung {
                used.clear();
                rung = recovery_attempt.rung;
            }
            prop_assert!(!used.contains(&step.label), "{step:?}");
            used.push(step.label.clone());
            // Charges everything that the step may use: sessions and money.
            let used = u64::from(step.iterations());
            if let Some(left) = &mut context.free.sessions {
                prop_assert!(*left >= used, "{step:?} takes {used} of {left}");
                *left -= used;
            }
            if let Some(left) = &mut context.free.budget.cost_usd {
                let cost = CostUsd::from_cents(cents_each * used);
                prop_assert!(*left >= cost, "{step:?} takes {cost} of {left}");
                *left = CostUsd::from_picos(left.picos() - cost.picos());
            }
        }
    }
}
