//! Test of voting: the best of enough successes wins, and nothing is left of the others.

use autonoe_harness::Voting;
use autonoe_harness::executor::TestsCriterion;
use autonoe_harness::strategy::VotingCriterion;

use super::cli::Cli;
use super::fixture::FleetFixture;

#[tokio::test]
async fn the_most_tests_win_and_running_members_are_stopped() {
    let [fewer, at_work, more] = Cli::ALL;
    let stage = FleetFixture::new()
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
    let votes = Voting {
        criterion: VotingCriterion::BestTests,
        ..Voting::default()
    };
    let (outcome, ()) = tokio::join!(stage.run(votes, check, 1), others);

    stage.assert_won_by(&outcome, more).await;
    assert_eq!(stage.ended(), [fewer, more, at_work]);
    let tests = Cli::ALL.map(|cli| stage.result_of(&outcome, cli).tests_passed);
    assert_eq!(tests, [Some(2), None, Some(3)]);
    for cli in [fewer, more] {
        stage.model(cli).verify();
    }
}
