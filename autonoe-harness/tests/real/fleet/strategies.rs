//! Tests of strategies, whose losers leave nothing behind, and of turns that continue a
//! conversation.

use autonoe_harness::executor::{CommandCriterion, TestsCriterion};
use autonoe_harness::strategy::VotingCriterion;
use autonoe_harness::{Parallel, Race, Voting};
use autonoe_testkit::model_server::{ModelScript, Turn};

use super::cli::Cli;
use super::fixture::FleetFixture;

#[tokio::test]
async fn codex_wins_while_gemini_is_in_a_tool_and_claude_in_a_turn() {
    let (winner, in_tool, in_turn) = (Cli::Codex, Cli::Gemini, Cli::Claude);
    let fixture = FleetFixture::new()
        .with_one_in_a_tool(in_tool)
        .with(winner, winner.writes(&["hello"]))
        .with_one_in_a_turn(in_turn);
    fixture.hold_back(winner);
    let check = CommandCriterion::new(fixture.check());

    let others = async {
        fixture.is_in_its_tool(in_tool).await;
        fixture.is_in_its_turn(in_turn).await;
        fixture.let_go(winner);
    };
    let (outcome, ()) = tokio::join!(fixture.run(Race {}, check, 1), others);

    fixture.assert_won_by(&outcome, winner).await;
    assert_eq!(fixture.ended()[0], winner);
    for loser in [in_tool, in_turn] {
        let result = fixture.result_of(&outcome, loser);
        assert!(!result.success, "{result:?}");
    }
    fixture.model(winner).verify();
}

#[tokio::test]
async fn the_first_to_end_has_failed_and_does_not_win() {
    let [checked, fastest, winner] = Cli::ALL;
    let fixture = FleetFixture::new()
        .with(checked, checked.writes(&["hello"]))
        .with(fastest, fastest.writes(&["nonsense"]))
        .with(winner, winner.writes(&["hello"]));
    // It is stopped during its checks.
    fixture.hold_back(checked);
    fixture.hold_back(winner);
    let check = CommandCriterion::new(fixture.check());

    let others = async {
        fixture.has_ended(fastest).await;
        fixture.is_in_its_checks(checked).await;
        fixture.let_go(winner);
    };
    let (outcome, ()) = tokio::join!(fixture.run(Race {}, check, 1), others);

    fixture.assert_won_by(&outcome, winner).await;
    assert_eq!(fixture.ended(), [fastest, winner, checked]);
    let failed = fixture.result_of(&outcome, fastest);
    let error = failed.error.as_deref().unwrap_or_default();
    assert!(error.contains("exit code 1"), "{failed:?}");
    for cli in Cli::ALL {
        fixture.model(cli).verify();
    }
}

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

#[tokio::test]
async fn the_second_turn_of_each_program_has_the_first_one_before_it() {
    let fixture = Cli::ALL
        .into_iter()
        .fold(FleetFixture::new(), |fixture, cli| {
            let first = Turn::text("I keep the word walnut in mind.");
            let turns = [first].into_iter().chain(cli.writes(&["hello"]));
            fixture.with(cli, ModelScript::new(turns))
        });
    let check = CommandCriterion::new(fixture.check());

    let outcome = fixture.run(Parallel {}, check, 2).await;

    assert!(outcome.success, "{outcome:?}");
    for cli in Cli::ALL {
        fixture.model(cli).verify();
        let requests = fixture.model(cli).log().main_requests();
        let second = requests[1].raw.to_string();
        let parts = [
            "Write hello to hello.txt.",
            "I keep the word walnut in mind.",
            "The task T-1 is not done yet.",
            "The last attempt failed",
        ];
        let places = parts.map(|part| second.find(part));
        assert!(places.iter().all(Option::is_some), "{cli:?}: {second}");
        assert!(places.is_sorted(), "{cli:?}: {second}");
        let goals = second.matches("Write hello to hello.txt.").count();
        assert_eq!(goals, 1, "{cli:?}: {second}");
    }
    fixture.base_fixture().assert_nothing_is_left().await;
}
