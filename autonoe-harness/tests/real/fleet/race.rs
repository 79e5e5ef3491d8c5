//! Tests of races: the first success wins, and nothing is left of the others.

use autonoe_harness::Race;
use autonoe_harness::executor::CommandCriterion;

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
