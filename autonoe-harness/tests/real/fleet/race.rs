//! The first success wins, and nothing is left of the others.

use autonoe_harness::{CommandCriterion, Race};

use super::cli::Cli;
use super::stage::Stage;

/// One does its task while another is in a tool and the third waits for its model.
async fn wins(winner: Cli, in_tool: Cli, in_turn: Cli) {
    let stage = Stage::new()
        .with_one_in_a_tool(in_tool)
        .with(winner, winner.writes(&["hello"]))
        .with_one_in_a_turn(in_turn);
    stage.hold_back(winner);
    let check = CommandCriterion::new(stage.check());

    let others = async {
        stage.is_in_its_tool(in_tool).await;
        stage.is_in_its_turn(in_turn).await;
        stage.let_go(winner);
    };
    let (outcome, ()) = tokio::join!(stage.run(Race {}, check, 1), others);

    stage.assert_won_by(&outcome, winner).await;
    assert_eq!(stage.ended()[0], winner);
    for loser in [in_tool, in_turn] {
        let result = stage.result_of(&outcome, loser);
        assert!(!result.success, "{result:?}");
    }
    stage.model(winner).verify();
}

#[tokio::test]
async fn claude_wins_while_codex_is_in_a_tool_and_gemini_in_a_turn() {
    wins(Cli::Claude, Cli::Codex, Cli::Gemini).await;
}

#[tokio::test]
async fn codex_wins_while_gemini_is_in_a_tool_and_claude_in_a_turn() {
    wins(Cli::Codex, Cli::Gemini, Cli::Claude).await;
}

#[tokio::test]
async fn gemini_wins_while_claude_is_in_a_tool_and_codex_in_a_turn() {
    wins(Cli::Gemini, Cli::Claude, Cli::Codex).await;
}

#[tokio::test]
async fn the_first_to_end_has_failed_and_does_not_win() {
    let [checked, fastest, winner] = Cli::ALL;
    let stage = Stage::new()
        .with(checked, checked.writes(&["hello"]))
        .with(fastest, fastest.writes(&["nonsense"]))
        .with(winner, winner.writes(&["hello"]));
    // It is stopped in the middle of its checks.
    stage.hold_back(checked);
    stage.hold_back(winner);
    let check = CommandCriterion::new(stage.check());

    let others = async {
        stage.has_ended(fastest).await;
        stage.is_in_its_checks(checked).await;
        stage.let_go(winner);
    };
    let (outcome, ()) = tokio::join!(stage.run(Race {}, check, 1), others);

    stage.assert_won_by(&outcome, winner).await;
    assert_eq!(stage.ended(), [fastest, winner, checked]);
    let failed = stage.result_of(&outcome, fastest);
    let error = failed.error.as_deref().unwrap_or_default();
    assert!(error.contains("exit code 1"), "{failed:?}");
    for cli in Cli::ALL {
        stage.model(cli).verify();
    }
}

#[tokio::test]
async fn nobody_wins_when_all_have_failed() {
    let stage = Cli::ALL.into_iter().fold(Stage::new(), |stage, cli| {
        stage.with(cli, cli.writes(&["nonsense"]))
    });
    let check = CommandCriterion::new(stage.check());

    let outcome = stage.run(Race {}, check, 1).await;

    stage.assert_nobody_won(&outcome, &Cli::ALL).await;
    for cli in Cli::ALL {
        assert!(!stage.result_of(&outcome, cli).success);
        stage.model(cli).verify();
    }
}
