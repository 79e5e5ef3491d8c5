//! Tests of races and votes in a repository, with a real git.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::{Budget, CostUsd, RunControl};
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{AnyOf, ExecuteError, FileCriterion, Verification};
use autonoe_harness::strategy::{MemberId, VotingCriterion};
use autonoe_harness::{
    Allowance, Candidate, Execution, ExecutionReport, Executor, Executors, FleetOrder, Graph, Race,
    Strategy, Task, Voting,
};

use crate::fleets::fixture::{Project, roadmap, unhurried, within};

const PACE: Duration = Duration::from_millis(20);

fn candidate_order(strategy: Arc<dyn Strategy>, candidates: &[(&str, &str)]) -> FleetOrder {
    let candidates = candidates.iter().map(|(name, model)| Candidate {
        name: (*name).to_owned(),
        backend: Some("agent".to_owned()),
        model: Some((*model).to_owned()),
    });
    let tasks = roadmap(&[("a", &[]), ("b", &["a"])]);
    unhurried(FleetOrder::from_candidates(
        "f", &tasks, strategy, candidates,
    ))
}

#[tokio::test]
async fn the_winner_of_a_race_is_merged_and_nothing_is_left_of_the_others() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let order = candidate_order(Arc::new(Race {}), &[("one", "slow"), ("two", "quick")]);

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(outcome.success, "{outcome:?}");
    assert_eq!(outcome.winner, Some(MemberId::new("two")));
    assert_eq!(outcome.merged, Some(project.git(&["rev-parse", "main"])));
    assert!(outcome.unmerged_work.is_empty() && outcome.not_merged.is_none());
    assert_eq!(project.committed("main"), ["a.txt", "b.txt", "readme.md"]);
    assert!(project.path().join("b.txt").exists());
    project.is_clean();
    project.assert_no_member_process();
}

#[tokio::test]
async fn the_best_of_enough_votes_is_merged_and_the_others_are_discarded() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let voting = Voting {
        criterion: VotingCriterion::LowestFailures,
        wait_for_all: true,
        ..Voting::default()
    };
    let candidates = [("one", "broken"), ("two", "quick"), ("three", "quick")];
    let mut order = candidate_order(Arc::new(voting), &candidates);
    order.members[0].work.max_iterations = 1;

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(outcome.success, "{outcome:?}");
    assert_ne!(outcome.winner, Some(MemberId::new("one")));
    assert_eq!(project.committed("main"), ["a.txt", "b.txt", "readme.md"]);
    project.is_clean();
}

#[tokio::test]
async fn the_best_progress_is_that_of_the_member_whose_work_meets_more_criteria() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let voting = Voting {
        criterion: VotingCriterion::BestProgress,
        ..Voting::default()
    };
    let candidates = [("one", "quick"), ("two", "thorough")];
    let mut order = candidate_order(Arc::new(voting), &candidates);
    for member in &mut order.members {
        for planned in &mut member.work.tasks {
            let id = &planned.task.id;
            let parts = [format!("{id}.txt"), format!("{id}.extra.txt")];
            let parts = parts.map(|path| FileCriterion::new(path).into());
            planned.task.success_criteria = Some(AnyOf::new(parts).into());
        }
    }

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert_eq!(outcome.winner, Some(MemberId::new("two")));
    let of_each = outcome.results.iter();
    let of_each: Vec<_> = of_each
        .map(|result| (result.success, result.progress, result.criteria_passed))
        .collect();
    assert_eq!(of_each, [(true, 1.0, 2), (true, 1.0, 4)]);
}

#[tokio::test]
async fn a_contest_without_a_winner_keeps_all_work_and_names_it() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let mut order = candidate_order(Arc::new(Race {}), &[("one", "quick"), ("two", "broken")]);
    for member in &mut order.members {
        member.work.max_iterations = 1;
    }
    // The first is half done when it fails.
    order.members[0].work.tasks[1].task.model = Some("broken".to_owned());

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(!outcome.success);
    let branches: Vec<_> = outcome
        .unmerged_work
        .iter()
        .map(|place| place.branch.as_str())
        .collect();
    // The second has no work to keep.
    assert_eq!(branches, ["autonoe/f/one"]);
    assert_eq!(project.branches(), ["autonoe/f/one", "main"]);
    assert_eq!(project.committed("autonoe/f/one"), ["a.txt", "readme.md"]);
    assert_eq!(project.committed("main"), ["readme.md"]);
}

#[tokio::test]
async fn a_winner_that_conflicts_with_the_base_is_kept_and_is_no_success() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let order = candidate_order(Arc::new(Race {}), &[("one", "quick"), ("two", "slow")]);
    // A file of a person that the merge would overwrite.
    fs::write(project.path().join("a.txt"), "mine\n").expect("a file");

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(!outcome.success);
    let reason = outcome.not_merged.as_deref().expect("it was not merged");
    assert!(reason.contains("has uncommitted changes"), "{reason}");
    assert_eq!(outcome.winner, Some(MemberId::new("one")));
    assert!(project.branches().contains(&"autonoe/f/one".to_owned()));
    let text = fs::read_to_string(project.path().join("a.txt"));
    assert_eq!(text.expect("a file"), "mine\n");
    let second = run.run(&RunControl::new()).await.expect("it has ended");
    assert_eq!(second, outcome);
}

#[tokio::test]
async fn tasks_in_worktrees_are_merged_in_turn_and_failed_work_is_kept() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["a"])];
    let order = FleetOrder::from_tasks("f", &roadmap(tasks), Graph::default());
    let mut order = unhurried(order.expect("it can be done"));
    order.members[2].work.model = Some("broken".to_owned());
    order.members[2].work.max_iterations = 1;

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(!outcome.success);
    assert_eq!(project.turns(), ["a a", "b b"]);
    assert_eq!(project.committed("main"), ["a.txt", "b.txt", "readme.md"]);
    // The failed member had no work.
    assert_eq!(outcome.unmerged_work, []);
    project.is_clean();
}

/// Verifies work for money.
struct PaidJudge {
    price: CostUsd,
    /// The limits of its sessions.
    limits: Mutex<Vec<Option<CostUsd>>>,
}

#[async_trait]
impl Executor for PaidJudge {
    fn cli_name(&self) -> &str {
        "agent"
    }

    fn default_model(&self) -> Option<&str> {
        None
    }

    async fn run(&self, _: &Task, _: &Execution) -> Result<ExecutionReport, ExecuteError> {
        panic!("it only verifies");
    }

    async fn verify_success(
        &self,
        _: &Task,
        _: &ExecutionReport,
        budget: &VerificationBudget,
    ) -> Verification {
        let Ok(session) = budget.open() else {
            return Verification::unverified("the budget of the judge is spent");
        };
        let limit = session.budget().cost_usd;
        self.limits.lock().expect("whole").push(limit);
        let cost = CostTotal::known(self.price);
        session.settle(cost, TokenUsage::default(), Duration::from_secs(1));
        Verification::passed("it is there")
    }
}

#[tokio::test]
async fn the_verification_of_a_winner_is_paid_from_the_budget_of_the_fleet() {
    let cents = CostUsd::from_cents;
    // Two turns cost 20 cents, and each task is judged.
    for (budget, price, limits, spent, is_merged) in [
        (100, 20, &[80, 60][..], 60, true),
        (50, 30, &[30], 50, false),
    ] {
        let project = Project::with_git();
        let agents = project.agents(PACE);
        let money = Budget::default().with_cost(cents(budget));
        let order =
            candidate_order(Arc::new(Race {}), &[("one", "quick")]).budget(Allowance::new(money));
        let judge = Arc::new(PaidJudge {
            price: cents(price),
            limits: Mutex::default(),
        });
        let executor = judge.clone();

        let run = project.run_with_git(&agents, &order).await;
        let run =
            run.verification_executors(move |_| Executors::default().executor(executor.clone()));
        let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

        let seen: Vec<_> = judge.limits.lock().expect("whole").clone();
        let expected: Vec<_> = limits.iter().map(|limit| Some(cents(*limit))).collect();
        assert_eq!(seen, expected);
        assert_eq!(outcome.merged.is_some(), is_merged, "{outcome:?}");
        assert_eq!(outcome.success, is_merged);
        let cost = outcome.account.spent().spent.cost;
        assert_eq!(cost, CostTotal::known(cents(spent)));
        let second = run.run(&RunControl::new()).await.expect("it has ended");
        assert_eq!(second.account, outcome.account);
    }
}
