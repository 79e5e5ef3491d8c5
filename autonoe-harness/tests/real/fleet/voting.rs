//! Test of voting: the best of enough successes wins, and nothing is left of the others.

use autonoe_harness::Voting;
use autonoe_harness::executor::TestsCriterion;
use autonoe_harness::strategy::VotingCriterion;

use super::cli::Cli;
use super::fixture::FleetFixture;

#[tokio::test]
async fn the_most_tests_win_and_running_members_are_stopped() {
    let [fewer, at_work, more] = Cli::ALL;
    let fixture = FleetFixture::new()
        .with(fewer, fewer.writes(&["hello"; 2]))
        .with_one_in_a_tool(at_work)
        .with(more, more.writes(&["hello"; 3]));
    fixture.hold_back(more);
    let check = TestsCriterion::new(fixture.check(), "report.xml");

    let others = async {
        fixture.has_ended(fewer).await;
        fixture.is_in_its_tool(at_work).await;
        fixture.let_go(more);
    };
    let votes = Voting {
        criterion: VotingCriterion::BestTests,
        ..Voting::default()
    };
    let (outcome, ()) = tokio::join!(fixture.run(votes, check, 1), others);

    fixture.assert_won_by(&outcome, more).await;
    assert_eq!(fixture.ended(), [fewer, more, at_work]);
    let tests = Cli::ALL.map(|cli| fixture.result_of(&outcome, cli).tests_passed);
    assert_eq!(tests, [Some(2), None, Some(3)]);
    for cli in [fewer, more] {
        fixture.model(cli).verify();
    }
}
