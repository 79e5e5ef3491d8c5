//! Test that the next turn continues the conversation of the previous one, on each CLI.

use autonoe_harness::Parallel;
use autonoe_harness::executor::CommandCriterion;
use autonoe_testkit::model_server::{ModelScript, Turn};

use super::cli::Cli;
use super::fixture::FleetFixture;

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

    assert!(outcome.result.success, "{outcome:?}");
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
    fixture.place().assert_nothing_is_left().await;
}
