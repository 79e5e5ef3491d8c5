//! Requirements that a backend does not meet are reported before a run.

use serde_json::json;

use crate::choosing::setting::Setting;

#[test]
fn what_a_backend_cannot_give_is_refused_before_anything_begins() {
    let setting = Setting::new();
    for (arguments, code, told) in [
        (
            &["--backend=codex", "--no-sandbox"][..],
            1,
            "codex does not ask about every tool call",
        ),
        (
            &["--backend=gemini", "--no-sandbox"],
            1,
            "gemini does not ask about every tool call",
        ),
        (
            &["--backend=acp:agent", "--no-sandbox"],
            1,
            "acp does not ask about every tool call",
        ),
        (
            &["--backend=gemini", "--thinking"],
            2,
            "gemini does not support the session field `thinking`",
        ),
        (
            &["--backend=acp:agent", "--model=m"],
            2,
            "agent does not support the session field `model`",
        ),
        (
            &["--backend=acp:agent", "--plan-model=m"],
            2,
            "agent does not support the session field `model`",
        ),
        (&["--backend=codex:x"], 2, "behind codex comes nothing"),
        (&["--backend=acp"], 2, "write acp:COMMAND"),
    ] {
        for more in [&["run"][..], &["run", "--dry-run"]] {
            let said = setting.autonoe(&[more, arguments].concat());

            assert_eq!(said.code, Some(code), "{arguments:?}: {said:?}");
            assert!(said.stderr.contains(told), "{arguments:?}: {said:?}");
            let is_usage_of_value = said.stderr.contains("For more information");
            assert!(
                is_usage_of_value || said.stderr.contains("hint:"),
                "{said:?}"
            );
        }
    }
    assert_eq!(setting.names(), ["SPEC.md"]);
}

#[test]
fn a_variable_that_switches_the_sandbox_off_is_refused_too() {
    let setting = Setting::new();
    let mut command = setting.command(&["run", "--backend=codex"]);
    command.env("AUTONOE_NO_SANDBOX", "1");

    let said = crate::choosing::setting::said(command);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("AUTONOE_NO_SANDBOX out"), "{said:?}");
}

#[test]
fn money_is_not_limited_where_nobody_tells_what_it_costs() {
    let setting = Setting::new().with_codex();
    let mut command = setting.command(&["run", "--backend=codex", "--max-cost=1"]);
    command.env("OPENAI_API_KEY", "nobody asks");

    let said = crate::choosing::setting::said(command);

    assert_eq!(said.code, Some(1), "{said:?}");
    let told = "codex does not report what it costs";
    assert!(said.stdout.contains(told), "{said:?}");
}

#[test]
fn a_program_that_is_not_there_is_told_before_a_run() {
    let setting = Setting::new();
    for (backend, told) in [
        ("codex", "the program codex is in no folder of PATH"),
        ("gemini", "is in no folder of PATH"),
        ("acp:nobody", "the program nobody is in no folder of PATH"),
    ] {
        let said =
            crate::choosing::setting::said(setting.bare_command(&["run", "--backend", backend]));

        assert_eq!(said.code, Some(1), "{backend}: {said:?}");
        assert!(said.stderr.contains(told), "{backend}: {said:?}");
        assert!(
            said.stderr.contains("autonoe doctor"),
            "{backend}: {said:?}"
        );
    }
}

#[test]
fn a_configuration_that_the_backend_does_not_support_is_refused_alike_by_every_command() {
    let backend = json!({"type": "claude", "settingSources": "project"}).to_string();
    let setting = Setting::new().configured(&json!({"projectMemory": false}));

    let dry = setting.autonoe(&["run", "--dry-run", "--backend", &backend]);
    let run = setting.autonoe(&["run", "--backend", &backend]);
    let doctor = setting.autonoe(&["doctor", "--backend", &backend]);

    let sentence = "claude does not support the session field `project_memory`: \
                    it cannot keep the memory files of the project from the agent";
    let remedy = "set `settingSources` of the backend to \"none\"";
    for (said, output) in [
        (&dry, &dry.stderr),
        (&run, &run.stderr),
        (&doctor, &doctor.stdout),
    ] {
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(output.contains(sentence), "{said:?}");
        assert!(output.contains(remedy), "{said:?}");
    }
}
