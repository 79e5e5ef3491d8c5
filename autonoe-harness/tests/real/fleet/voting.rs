//! The best of enough successes wins, and nothing is left of the others.

use autonoe_harness::{CommandCriterion, TestsCriterion, Voting, VotingCriterion};
use autonoe_testkit::model_server::Script;

use super::cli::Cli;
use super::stage::Stage;

fn voting(criterion: VotingCriterion) -> Voting {
    Voting {
        criterion,
        ..Voting::default()
    }
}

#[tokio::test]
async fn who_failed_has_no_vote_and_the_fewest_failures_win() {
    let [second_try, first_try, failing] = Cli::ALL;
    let again = |one: [&str; 1], other: [&str; 1], cli: Cli| {
        let turns = [cli.writes(&one), cli.writes(&other)];
        Script::new(turns.into_iter().flatten())
    };
    let stage = Stage::new()
        .with(second_try, again(["nonsense"], ["hello"], second_try))
        .with(first_try, first_try.writes(&["hello"]))
        .with(failing, again(["nonsense"], ["nothing"], failing));
    stage.hold_back(first_try);
    let check = CommandCriterion::new(stage.check());

    let others = async {
        stage.has_ended(second_try).await;
        stage.has_ended(failing).await;
        stage.let_go(first_try);
    };
    let votes = voting(VotingCriterion::LowestFailures);
    let (outcome, ()) = tokio::join!(stage.run(votes, check, 2), others);

    stage.assert_won_by(&outcome, first_try).await;
    let failures = Cli::ALL.map(|cli| stage.result_of(&outcome, cli).failures);
    assert_eq!(failures, [1, 0, 2]);
    assert!(stage.result_of(&outcome, second_try).success);
    assert!(!stage.result_of(&outcome, failing).success);
    for cli in Cli::ALL {
        stage.model(cli).verify();
    }
}

#[tokio::test]
async fn the_most_tests_win_and_who_is_still_at_work_is_stopped() {
    let [fewer, at_work, more] = Cli::ALL;
    let stage = Stage::new()
        .with(fewer, fewer.writes(&["hello"; 2]))
        .with_one_in_a_tool(at_work)
        .with(more, more.writes(&["hello"; 3]));
    stage.hold_back(more);
    let check = TestsCriterion::new(stage.check(), "report.xml");

    let others = async {
        stage.has_ended(fewer).await;
        stage.is_in_its_tool(at_work).await;
        stage.let_go(more);
    };
    let votes = voting(VotingCriterion::BestTests);
    let (outcome, ()) = tokio::join!(stage.run(votes, check, 1), others);

    stage.assert_won_by(&outcome, more).await;
    assert_eq!(stage.ended(), [fewer, more, at_work]);
    let tests = Cli::ALL.map(|cli| stage.result_of(&outcome, cli).tests_passed);
    assert_eq!(tests, [Some(2), None, Some(3)]);
    for cli in [fewer, more] {
        stage.model(cli).verify();
    }
}

#[tokio::test]
async fn without_enough_votes_nobody_wins_and_the_last_is_stopped() {
    let [at_work, one, other] = Cli::ALL;
    let stage = Stage::new()
        .with_one_in_a_turn(at_work)
        .with(one, one.writes(&["nonsense"]))
        .with(other, other.writes(&["nonsense"]));
    for cli in [one, other] {
        stage.hold_back(cli);
    }
    let check = CommandCriterion::new(stage.check());

    let others = async {
        stage.is_in_its_turn(at_work).await;
        for cli in [one, other] {
            stage.let_go(cli);
        }
    };
    let votes = voting(VotingCriterion::First);
    let (outcome, ()) = tokio::join!(stage.run(votes, check, 1), others);

    stage.assert_nobody_won(&outcome, &[one, other]).await;
    assert_eq!(stage.ended().last(), Some(&at_work));
}
