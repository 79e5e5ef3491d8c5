//! Unmet requirements of a backend, which are reported before a run.

use serde_json::json;

use crate::choosing::fixture::Fixture;

#[test]
fn unsupported_options_are_refused_before_a_run_starts() {
    let fixture = Fixture::new();
    for (arguments, code, expected) in [
        (
            &["--backend=codex", "--no-sandbox"][..],
            1,
            "codex can bypass the gate",
        ),
        (
            &["--backend=gemini", "--no-sandbox"],
            1,
            "gemini can bypass the gate",
        ),
        (
            &["--backend=acp:agent", "--no-sandbox"],
            1,
            "acp can bypass the gate",
        ),
        (
            &["--backend=gemini", "--thinking"],
            2,
            "gemini does not support the setting `thinking`",
        ),
        (
            &["--backend=acp:agent", "--model=m"],
            2,
            "agent does not support the setting `model`",
        ),
        (
            &["--backend=acp:agent", "--plan-model=m"],
            2,
            "agent does not support the setting `model`",
        ),
        (&["--backend=codex:x"], 2, "codex takes no value"),
        (&["--backend=acp"], 2, "expected acp:COMMAND"),
    ] {
        for more in [&["run"][..], &["run", "--dry-run"]] {
            let output = fixture.autonoe(&[more, arguments].concat());

            assert_eq!(output.code, Some(code), "{arguments:?}: {output:?}");
            assert!(
                output.stderr.contains(expected),
                "{arguments:?}: {output:?}"
            );
            let is_usage_of_value = output.stderr.contains("For more information");
            assert!(
                is_usage_of_value || output.stderr.contains("hint:"),
                "{output:?}"
            );
        }
    }
    assert_eq!(fixture.names(), ["SPEC.md"]);
}

#[test]
fn a_variable_that_switches_the_sandbox_off_is_refused_too() {
    let fixture = Fixture::new();
    let mut command = fixture.command(&["run", "--backend=codex"]);
    command.env("AUTONOE_NO_SANDBOX", "1");

    let output = crate::choosing::fixture::run_command(command);

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output
            .stderr
            .contains("remove --no-sandbox and AUTONOE_NO_SANDBOX"),
        "{output:?}"
    );
}

#[test]
fn a_cost_limit_is_refused_on_a_backend_that_reports_no_cost() {
    let fixture = Fixture::new().with_codex();
    let mut command = fixture.command(&["run", "--backend=codex", "--max-cost=1"]);
    command.env("OPENAI_API_KEY", "nobody asks");

    let output = crate::choosing::fixture::run_command(command);

    assert_eq!(output.code, Some(1), "{output:?}");
    let expected = "codex does not report what it costs";
    assert!(output.stdout.contains(expected), "{output:?}");
}

#[test]
fn a_missing_program_is_reported_before_a_run() {
    let fixture = Fixture::new();
    for (backend, expected) in [
        ("codex", "the program codex is not on PATH"),
        ("gemini", "is not on PATH"),
        ("acp:nobody", "the program nobody is not on PATH"),
    ] {
        let output = crate::choosing::fixture::run_command(fixture.bare_command(&[
            "run",
            "--backend",
            backend,
        ]));

        assert_eq!(output.code, Some(1), "{backend}: {output:?}");
        assert!(output.stderr.contains(expected), "{backend}: {output:?}");
        assert!(
            output.stderr.contains("autonoe doctor"),
            "{backend}: {output:?}"
        );
    }
}

#[test]
fn a_configuration_that_the_backend_does_not_support_is_refused_alike_by_every_command() {
    let backend = json!({"type": "claude", "settingSources": "project"}).to_string();
    let fixture = Fixture::new().configured(&json!({"projectMemory": false}));

    let dry = fixture.autonoe(&["run", "--dry-run", "--backend", &backend]);
    let run = fixture.autonoe(&["run", "--backend", &backend]);
    let doctor = fixture.autonoe(&["doctor", "--backend", &backend]);

    let sentence = "claude does not support the setting `project_memory`: \
                    it cannot hide the memory files of the project from the agent";
    let remedy = "set `settingSources` of the backend to \"none\"";
    for (output, text) in [
        (&dry, &dry.stderr),
        (&run, &run.stderr),
        (&doctor, &doctor.stdout),
    ] {
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(text.contains(sentence), "{output:?}");
        assert!(text.contains(remedy), "{output:?}");
    }
}
