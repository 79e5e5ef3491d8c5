//! Programs that do not start.

use std::time::Duration;

use autonoe_testkit::fake_claude::{Build, FakeScript, Fault, Moment, Start, TurnFault};

use crate::fake_claude::fixture::{Fixture, on_both_builds, recorded};

fn script(build: Build, fault: Fault) -> FakeScript {
    FakeScript::says(["Hello."]).on(build).with_fault(fault)
}

fn dies(code: u8, stderr: &str, when: Start) -> Fault {
    Fault::DiesAtStart {
        code,
        stderr: stderr.to_owned(),
        when,
    }
}

async fn what_dies_at_its_start_is_told_with_its_last_words(build: Build) {
    for when in [Start::AtOnce, Start::AtInitialize, Start::AfterInitialize] {
        let setting = Fixture::new(&script(
            build,
            dies(1, "error: unknown option '--wat'", when),
        ));

        let played = setting.played().await;

        let parts = ["exited with code 1", "unknown option '--wat'"];
        played.assert_failed("configuration", &parts);
        assert_eq!(played.events, [], "{when:?}");
    }
}

async fn what_ends_in_peace_before_it_began_has_not_done_its_work(build: Build) {
    for when in [Start::AtOnce, Start::AtInitialize, Start::AfterInitialize] {
        let setting = Fixture::new(&script(build, dies(0, "", when)));

        let played = setting.played().await;

        played.assert_failed("crashed", &["exited with code 0"]);
        assert_eq!(played.events, [], "{when:?}");
    }
}

async fn what_says_nothing_at_its_start_is_given_up(build: Build) {
    for ignores_shutdown in [false, true] {
        let silence = Fault::At {
            moment: Moment::Lines(0),
            mishap: TurnFault::Silence,
        };
        let mut script = script(build, silence);
        if ignores_shutdown {
            script = script.with_fault(Fault::IgnoresShutdown);
        }
        let setting = Fixture::new(&script);
        let mut options = setting.options();
        options.program.start_limit = Duration::from_millis(300);

        let played = setting.played_with(options, setting.spec([])).await;

        played.assert_failed("timeout", &["was not ready after 300ms"]);
        assert_eq!(played.events, []);
    }
}

async fn garbage_before_the_first_answer_is_passed_over(build: Build) {
    let garbage = Fault::At {
        moment: Moment::Lines(0),
        mishap: TurnFault::Garbage(b"[SandboxDebug] not JSON".to_vec()),
    };
    let setting = Fixture::new(&script(build, garbage));

    setting.played().await.assert_completed(&["Hello."]);
}

async fn a_line_that_is_cut_at_the_start_is_no_answer(build: Build) {
    let cut = Fault::At {
        moment: Moment::Lines(0),
        mishap: TurnFault::CutLine { code: 1 },
    };
    let setting = Fixture::new(&script(build, cut));

    let played = setting.played().await;

    played.assert_failed("configuration", &["exited with code 1"]);
    assert_eq!(played.events, []);
}

async fn a_result_in_the_place_of_an_answer_says_why_there_is_none(build: Build) {
    let setting = Fixture::new(&recorded(build, "e02_sandbox_fail_if_unavailable"));

    let played = setting.played().await;

    played.assert_failed("configuration", &["Sandbox required but unavailable"]);
    assert_eq!(played.events, []);
}

#[tokio::test]
async fn a_program_without_a_script_says_so() {
    let setting = Fixture::new(&FakeScript::says(["Hello."]));
    let mut options = setting.options();
    options
        .program
        .environment
        .remove(std::ffi::OsStr::new(autonoe_testkit::fake_claude::SCRIPT));

    let played = setting.played_with(options, setting.spec([])).await;

    let parts = [
        "exited with code 70",
        "FAKE_CLAUDE_SCRIPT does not name a script",
    ];
    played.assert_failed("configuration", &parts);
}

on_both_builds![
    what_dies_at_its_start_is_told_with_its_last_words,
    what_ends_in_peace_before_it_began_has_not_done_its_work,
    what_says_nothing_at_its_start_is_given_up,
    garbage_before_the_first_answer_is_passed_over,
    a_line_that_is_cut_at_the_start_is_no_answer,
    a_result_in_the_place_of_an_answer_says_why_there_is_none,
];
