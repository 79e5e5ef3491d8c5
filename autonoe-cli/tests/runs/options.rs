//! Options of runs, and errors about invalid ones.

use serde_json::json;

use crate::runs::support::autonoe::{CommandOutput, autonoe, scripted, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, is_denied_by, sets, uses};

// Shows: spec/8.2/help
#[test]
fn without_a_command_there_is_help() {
    let ended = CommandOutput::run(autonoe(&Project::new(), &[]));

    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("Usage: autonoe <COMMAND>"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("Exit codes: 0 done"), "{ended:?}");
}

#[test]
fn wrong_values_are_wrong_usage_and_list_the_valid_ones() {
    for (arguments, expected) in [
        (&["run", "--thinking=1023"][..], "at least 1024"),
        (&["run", "--max-iterations=0"], "1.."),
        (&["run", "--max-iterations=many"], "invalid digit"),
        (&["run", "--model="], "the name of a model"),
        (&["run", "--max-time=90"], "with units"),
        (&["run", "--max-cost=cheap"], "an amount in dollars"),
        (
            &["run", "--max-time=soon"],
            "a duration with units, for example 90m",
        ),
        (
            &["run", "--backend=gpt"],
            "expected one of acp:COMMAND, claude, codex, gemini",
        ),
        (&["run", "--output=xml"], "text, json"),
        (&["run", "--quiet", "--debug"], "cannot be used with"),
        (&["run", "--fly"], "unexpected argument '--fly'"),
        (&["fly"], "unrecognized subcommand 'fly'"),
        (&["sync", "--allow-destructive"], "for `autonoe run`"),
        (&["sync", "-D"], "for `autonoe run`"),
        (&["man", "fly"], "unknown command \"fly\""),
    ] {
        let ended = CommandOutput::run(autonoe(&Project::new(), arguments));

        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{arguments:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_missing_backend_is_reported_with_an_install_hint() {
    let project = Project::new();
    let mut command = autonoe(&project, &["run"]);
    command.env("PATH", "/nowhere");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("install Claude Code"), "{ended:?}");
    assert!(!project.path(".autonoe").exists(), "nothing was begun");
}

#[test]
fn an_invalid_script_is_reported_with_its_place() {
    let project = Project::new();
    for (text, expected) in [
        (None, "does not exist"),
        (Some("{"), "is not a valid agent script"),
        (
            Some(r#"{"sessions": [{"name": "a", "stepz": []}]}"#),
            "stepz",
        ),
        (Some(r#"{"sessions": []}"#), "no sessions"),
    ] {
        let file = project.sibling_path("broken.json");
        if let Some(text) = text {
            std::fs::write(&file, text).expect("writable");
        }
        let backend = format!("--backend=scripted:{}", file.display());

        let ended = CommandOutput::run(autonoe(&project, &["run", &backend]));

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
}

// Shows: spec/6.3/runtime-options, spec/9.3/sandbox, spec/8.1/no-sandbox
#[test]
fn a_sandbox_that_is_switched_off_is_warned_of() {
    for (arguments, variable, warned) in [
        (&["run"][..], None, None),
        (&["run"], Some("0"), None),
        (&["run"], Some("true"), Some("the unknown value `true`")),
        (&["run"], Some("1"), Some("switched off by the environment")),
        (
            &["run", "--no-sandbox"],
            Some("1"),
            Some("the sandbox is switched off:"),
        ),
        (
            &["run", "--no-sandbox"],
            None,
            Some("the sandbox is switched off:"),
        ),
    ] {
        let project = Project::new();
        let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);
        let mut command = scripted_command(&project, &script, arguments);
        command.envs(variable.map(|value| ("AUTONOE_NO_SANDBOX", value)));

        let ended = CommandOutput::run(command);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines: Vec<_> = ended.stderr.lines().collect();
        let warnings = lines.iter().filter(|line| line.starts_with("warning:"));
        assert_eq!(warnings.count(), usize::from(warned.is_some()), "{ended:?}");
        if let Some(text) = warned {
            assert!(lines[0].starts_with("warning:"), "at the start: {ended:?}");
            assert!(lines[0].contains(text), "{ended:?}");
        }
    }
}

// Shows: spec/6.3/runtime-options, spec/8.1/allow-destructive
#[test]
fn deleting_files_requires_allow_destructive() {
    let delete = json!({"command": "rm old.txt"});
    for (arguments, step) in [
        (
            &["run"][..],
            is_denied_by("bash-security", "Bash", delete.clone()),
        ),
        (
            &["run", "--allow-destructive"],
            uses("Bash", delete.clone()),
        ),
        (&["run", "-D"], uses("Bash", delete)),
    ] {
        let project = Project::new();
        project.write("old.txt", "");
        let script =
            Script::new()
                .plans(&["DL-001"])
                .session([step, sets("DL-001", "passed"), ends()]);

        let ended = scripted(&project, &script, arguments);

        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
        let warning = "warning: --allow-destructive is on: agents can delete and move files";
        let warnings = ended.stderr.matches(warning).count();
        assert_eq!(warnings, arguments.len() - 1, "{arguments:?}: {ended:?}");
        let is_first = ended.stderr.starts_with(warning);
        assert_eq!(is_first, arguments.len() > 1, "{arguments:?}: {ended:?}");
    }
}

// Shows: spec/8.1/model, spec/8.1/model-defaults
#[test]
fn sessions_use_the_backends_own_model_unless_one_is_named() {
    for (flags, models, planning, coding) in [
        (&[][..], "the backend's default", "", ""),
        (&["--model=sonnet"], "sonnet", ", sonnet", ", sonnet"),
        (
            &["-P", "opus"],
            "opus for planning, otherwise the backend's default",
            ", opus",
            "",
        ),
        (
            &["--model=sonnet", "--plan-model=opus"],
            "opus for planning, otherwise sonnet",
            ", opus",
            ", sonnet",
        ),
    ] {
        let project = Project::new();
        let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);
        let arguments: Vec<_> = ["run"].iter().chain(flags).copied().collect();

        let ended = scripted(&project, &script, &arguments);

        for line in [
            format!("Models: {models}"),
            format!("Session 1 started (initializer{planning})"),
            format!("Session 2 started (coding{coding})"),
        ] {
            let is_printed = ended.stderr.lines().any(|printed| printed == line);
            assert!(is_printed, "{flags:?}: {line}: {ended:?}");
        }
    }
}

#[test]
fn a_run_starts_with_its_configuration() {
    let project = Project::new();
    let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);

    let ended = scripted(&project, &script, &["run", "-n", "9", "--max-cost=2.50"]);

    let lines: Vec<_> = ended.stderr.lines().take(5).collect();
    let backend = format!(
        "Backend: scripted:{}",
        project.sibling_path("agents.json").display()
    );
    let directory = format!("Directory: {}", project.root().display());
    assert_eq!(
        lines[..4],
        [
            directory.as_str(),
            backend.as_str(),
            "Models: the backend's default",
            "Limits: maxIterations 9, maxCost $2.50",
        ],
        "{ended:?}"
    );
    assert!(lines[4].starts_with("Run "), "{ended:?}");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let project = Project::new();
    for (arguments, has) in [
        (&["completions", "bash"][..], "_autonoe()"),
        (&["completions", "zsh"], "#compdef autonoe"),
        (&["completions", "fish"], "complete -c autonoe"),
        (&["man"], ".TH AUTONOE 1"),
        (&["man", "run"], "wait\\-for\\-quota"),
    ] {
        let ended = CommandOutput::run(autonoe(&project, arguments));

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains(has), "{arguments:?}");
    }
}
