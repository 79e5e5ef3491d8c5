//! Programs that do not start.

use std::time::Duration;

use autonoe_testkit::fake_claude::{
    Build, FakeScript, FaultTrigger, ProgramFault, Start, TurnFault,
};

use crate::fake_claude::fixture::{Fixture, on_both_builds, recorded};

fn script(build: Build, fault: ProgramFault) -> FakeScript {
    FakeScript::says(["Hello."]).build(build).with_fault(fault)
}

fn dies(code: u8, stderr: &str, when: Start) -> ProgramFault {
    ProgramFault::DiesAtStart {
        code,
        stderr: stderr.to_owned(),
        when,
    }
}

async fn crash_at_start_is_reported_with_stderr(build: Build) {
    for when in [Start::AtOnce, Start::AtInitialize, Start::AfterInitialize] {
        let fixture = Fixture::new(&script(
            build,
            dies(1, "error: unknown option '--wat'", when),
        ));

        let played = fixture.played().await;

        let parts = ["exited with code 1", "unknown option '--wat'"];
        played.assert_failed("configuration", &parts);
        assert_eq!(played.events, [], "{when:?}");
    }
}

async fn clean_exit_at_start_is_a_failure(build: Build) {
    for when in [Start::AtOnce, Start::AtInitialize, Start::AfterInitialize] {
        let fixture = Fixture::new(&script(build, dies(0, "", when)));

        let played = fixture.played().await;

        played.assert_failed("crashed", &["exited with code 0"]);
        assert_eq!(played.events, [], "{when:?}");
    }
}

async fn silent_start_times_out(build: Build) {
    for ignores_shutdown in [false, true] {
        let silence = ProgramFault::At {
            trigger: FaultTrigger::Lines(0),
            turn_fault: TurnFault::Silence,
        };
        let mut script = script(build, silence);
        if ignores_shutdown {
            script = script.with_fault(ProgramFault::IgnoresShutdown);
        }
        let fixture = Fixture::new(&script);
        let mut options = fixture.options();
        options.program.start_limit = Duration::from_millis(300);

        let played = fixture.played_with(options, fixture.spec([])).await;

        played.assert_failed("timeout", &["was not ready after 300ms"]);
        assert_eq!(played.events, []);
    }
}

async fn garbage_before_the_first_answer_is_passed_over(build: Build) {
    let garbage = ProgramFault::At {
        trigger: FaultTrigger::Lines(0),
        turn_fault: TurnFault::Garbage(b"[SandboxDebug] not JSON".to_vec()),
    };
    let fixture = Fixture::new(&script(build, garbage));

    fixture.played().await.assert_completed(&["Hello."]);
}

async fn a_line_that_is_cut_at_the_start_is_no_answer(build: Build) {
    let cut = ProgramFault::At {
        trigger: FaultTrigger::Lines(0),
        turn_fault: TurnFault::CutLine { code: 1 },
    };
    let fixture = Fixture::new(&script(build, cut));

    let played = fixture.played().await;

    played.assert_failed("configuration", &["exited with code 1"]);
    assert_eq!(played.events, []);
}

async fn early_result_gives_the_failure_reason(build: Build) {
    let fixture = Fixture::new(&recorded(build, "e02_sandbox_fail_if_unavailable"));

    let played = fixture.played().await;

    played.assert_failed("configuration", &["Sandbox required but unavailable"]);
    assert_eq!(played.events, []);
}

#[tokio::test]
async fn missing_script_is_reported() {
    let fixture = Fixture::new(&FakeScript::says(["Hello."]));
    let mut options = fixture.options();
    options
        .program
        .environment
        .remove(std::ffi::OsStr::new(autonoe_testkit::fake_claude::SCRIPT));

    let played = fixture.played_with(options, fixture.spec([])).await;

    let parts = [
        "exited with code 70",
        "FAKE_CLAUDE_SCRIPT does not name a script",
    ];
    played.assert_failed("configuration", &parts);
}

on_both_builds![
    crash_at_start_is_reported_with_stderr,
    clean_exit_at_start_is_a_failure,
    silent_start_times_out,
    garbage_before_the_first_answer_is_passed_over,
    a_line_that_is_cut_at_the_start_is_no_answer,
    early_result_gives_the_failure_reason,
];
