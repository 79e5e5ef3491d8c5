//! Races and votes in a repository, with a real git.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_harness::{
    AnyOf, Arrangement, Contender, FileCriterion, FleetOrder, HarnessId, Race, Strategy, Voting,
    VotingCriterion,
};

use crate::fleets::setting::{Project, roadmap, unhurried, within};

const PACE: Duration = Duration::from_millis(20);

fn contest(strategy: Arc<dyn Strategy>, contenders: &[(&str, &str)]) -> FleetOrder {
    let contenders = contenders
        .iter()
        .map(|(name, model)| Contender::new(*name).backend("agent").model(*model));
    let tasks = roadmap(&[("a", &[]), ("b", &["a"])]);
    unhurried(FleetOrder::of_contenders("f", &tasks, strategy, contenders))
}

#[tokio::test]
async fn the_winner_of_a_race_is_merged_and_nothing_is_left_of_the_others() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let order = contest(Arc::new(Race {}), &[("one", "slow"), ("two", "quick")]);

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(outcome.result.success, "{outcome:?}");
    assert_eq!(outcome.result.winner, Some(HarnessId::new("two")));
    assert_eq!(outcome.merged, Some(project.git(&["rev-parse", "main"])));
    assert!(outcome.kept.is_empty() && outcome.not_merged.is_none());
    assert_eq!(project.committed("main"), ["a.txt", "b.txt", "readme.md"]);
    assert!(project.path().join("b.txt").exists());
    project.is_clean();
    project.nobody_lives();
}

#[tokio::test]
async fn of_enough_votes_the_best_is_merged_and_the_others_go() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let voting = Voting {
        criterion: VotingCriterion::LowestFailures,
        wait_for_all: true,
        ..Voting::default()
    };
    let contenders = [("one", "broken"), ("two", "quick"), ("three", "quick")];
    let mut order = contest(Arc::new(voting), &contenders);
    order.members[0].work.max_iterations = 1;

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(outcome.result.success, "{outcome:?}");
    assert_ne!(outcome.result.winner, Some(HarnessId::new("one")));
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
    let contenders = [("one", "quick"), ("two", "thorough")];
    let mut order = contest(Arc::new(voting), &contenders);
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

    assert_eq!(outcome.result.winner, Some(HarnessId::new("two")));
    let of_each = outcome.result.results.iter();
    let of_each: Vec<_> = of_each
        .map(|result| (result.success, result.progress, result.criteria_passed))
        .collect();
    assert_eq!(of_each, [(true, 1.0, 2), (true, 1.0, 4)]);
}

#[tokio::test]
async fn a_contest_that_nobody_wins_keeps_all_work_and_names_it() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let mut order = contest(Arc::new(Race {}), &[("one", "quick"), ("two", "broken")]);
    for member in &mut order.members {
        member.work.max_iterations = 1;
    }
    // The first is half done when it fails.
    order.members[0].work.tasks[1].task.model = Some("broken".to_owned());

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(!outcome.result.success);
    let kept: Vec<_> = outcome
        .kept
        .iter()
        .map(|place| place.branch.as_str())
        .collect();
    // The second did nothing that could be kept.
    assert_eq!(kept, ["autonoe/f/one"]);
    assert_eq!(project.branches(), ["autonoe/f/one", "main"]);
    assert_eq!(project.committed("autonoe/f/one"), ["a.txt", "readme.md"]);
    assert_eq!(project.committed("main"), ["readme.md"]);
}

#[tokio::test]
async fn a_winner_that_does_not_fit_to_the_base_is_kept_and_is_no_success() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let order = contest(Arc::new(Race {}), &[("one", "quick"), ("two", "slow")]);
    // Something of a person's that the merge would overwrite.
    fs::write(project.path().join("a.txt"), "mine\n").expect("a file");

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(!outcome.result.success);
    let why = outcome.not_merged.as_deref().expect("it was not merged");
    assert!(why.contains("has changes of its own"), "{why}");
    assert_eq!(outcome.result.winner, Some(HarnessId::new("one")));
    assert!(project.branches().contains(&"autonoe/f/one".to_owned()));
    let text = fs::read_to_string(project.path().join("a.txt"));
    assert_eq!(text.expect("a file"), "mine\n");
    let again = run.run(&RunControl::new()).await.expect("it has ended");
    assert_eq!(again, outcome);
}

#[tokio::test]
async fn tasks_in_worktrees_are_merged_one_after_the_other_and_what_failed_is_kept() {
    let project = Project::with_git();
    let agents = project.agents(PACE);
    let tasks: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"]), ("c", &["a"])];
    let order = FleetOrder::of_tasks("f", &roadmap(tasks), Arrangement::AsTheyDepend);
    let mut order = unhurried(order.expect("it can be done"));
    order.members[2].work.model = Some("broken".to_owned());
    order.members[2].work.max_iterations = 1;

    let run = project.run_with_git(&agents, &order).await;
    let outcome = within(run.run(&RunControl::new())).await.expect("it ends");

    assert!(!outcome.result.success);
    assert_eq!(project.turns(), ["a a", "b b"]);
    assert_eq!(project.committed("main"), ["a.txt", "b.txt", "readme.md"]);
    // What failed had done nothing.
    assert_eq!(outcome.kept, []);
    project.is_clean();
}
