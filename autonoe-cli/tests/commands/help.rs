//! Tests of the help texts.

use crate::commands::fixture::Fixture;

// Shows: spec/8.1/options, spec/8.1/thinking
#[test]
fn the_help_of_a_run_names_bounds_defaults_units_and_exit_codes() {
    let output = Fixture::new().autonoe(&["run", "--help"]);

    insta::assert_snapshot!(output.stdout);
}

#[test]
fn the_help_of_a_check_names_its_exit_codes() {
    let output = Fixture::new().autonoe(&["check", "--help"]);

    insta::assert_snapshot!(output.stdout);
}

#[test]
fn flow_help_lists_parameters_and_exit_codes() {
    let output = Fixture::new().autonoe(&["flow", "run", "--help"]);

    insta::assert_snapshot!(output.stdout);
}

#[test]
fn the_help_of_ask_describes_the_chat_and_names_exit_codes() {
    let output = Fixture::new().autonoe(&["ask", "--help"]);

    insta::assert_snapshot!(output.stdout);
}

#[test]
fn the_help_of_a_fleet_names_strategies_limits_and_exit_codes() {
    let output = Fixture::new().autonoe(&["harness", "run", "--help"]);

    insta::assert_snapshot!(output.stdout);
}

#[test]
fn a_run_and_a_sync_end_with_the_same_codes() {
    let fixture = Fixture::new();
    let codes = |command: &str| {
        let help = fixture.autonoe(&[command, "--help"]).stdout;
        let (_, codes) = help.split_once("Exit codes:").expect("they are told");
        codes.to_owned()
    };

    assert_eq!(codes("run"), codes("sync"));
    let manual = fixture.autonoe(&["man", "run"]).stdout;
    assert!(manual.contains("130  cancelled"), "{manual}");
}

#[test]
fn a_model_without_a_name_is_wrong_usage() {
    for args in [
        &["run", "--model="][..],
        &["run", "-m", ""],
        &["run", "--plan-model="],
        &["sync", "--model= "],
        &["sync", "--plan-model", ""],
    ] {
        let output = Fixture::new().file("SPEC.md", "# Shop\n").autonoe(args);

        assert_eq!(output.code, 2, "{args:?}: {}", output.screen());
        let words = "expected the name of a model";
        assert!(
            output.stderr.contains(words),
            "{args:?}: {}",
            output.screen()
        );
    }
}
