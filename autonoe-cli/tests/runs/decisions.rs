//! Tests of the decision tables in the specification, through the command.

use serde_json::json;

use crate::runs::support::autonoe::{CommandOutput, autonoe, scripted};
use crate::runs::support::project::Project;
use crate::runs::support::script::{
    Script, ends, hits_short_quota, is_denied_by, sets, text_step, uses,
};

mod project_directory {
    use super::*;

    fn passes() -> Script {
        Script::new().plans(&["DL-001"]).passes(&["DL-001"])
    }

    // Shows: spec/8.2/nothing-working-directory
    #[test]
    fn not_provided_is_the_working_directory() {
        let project = Project::new();

        assert_eq!(scripted(&project, &passes(), &["run"]).code, Some(0));
        assert!(project.ledger().is_some());
    }

    // Shows: spec/8.1/project-dir
    #[test]
    fn an_absolute_or_a_relative_path_that_exists_is_used() {
        for make in [
            (|project: &Project| project.root().display().to_string()) as fn(&Project) -> String,
            |_| "../project".to_owned(),
            |_| ".".to_owned(),
        ] {
            let project = Project::new();
            let path = make(&project);

            let ended = scripted(&project, &passes(), &["run", "-p", &path]);

            assert_eq!(ended.code, Some(0), "{path}: {ended:?}");
            assert!(project.ledger().is_some(), "{path}");
        }
    }

    #[test]
    fn a_path_that_does_not_exist_is_an_error() {
        let project = Project::new();
        for path in ["missing", "/missing/too"] {
            let ended = CommandOutput::run(autonoe(&project, &["run", "--project-dir", path]));

            assert_eq!(ended.code, Some(1), "{ended:?}");
            assert!(ended.stderr.contains("does not exist"), "{ended:?}");
            assert!(ended.stderr.contains("--project-dir"), "{ended:?}");
            assert_eq!(ended.stderr.matches("create it").count(), 1, "{ended:?}");
        }
    }

    #[test]
    fn project_path_to_a_file_is_refused() {
        let project = Project::new();

        let ended = CommandOutput::run(autonoe(&project, &["run", "--project-dir", "SPEC.md"]));

        assert_eq!(ended.code, Some(1), "{ended:?}");
        let words = "SPEC.md\" is a file and not a directory";
        assert!(ended.stderr.contains(words), "{ended:?}");
    }

    // Shows: spec/8.2/specification
    #[test]
    fn a_run_without_a_specification_starts_nothing() {
        let project = Project::new();
        std::fs::remove_file(project.path("SPEC.md")).expect("ours");

        let ended = scripted(&project, &passes(), &["run"]);

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("SPEC.md"), "{ended:?}");
        assert!(ended.stderr.contains("autonoe init"), "{ended:?}");
        assert!(!project.path(".autonoe").exists());
    }
}

mod session_loop {
    use super::*;

    #[test]
    fn a_run_without_a_ledger_starts_with_the_initializer() {
        let project = Project::new();
        let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended.stderr.contains("Session 1 started (initializer)"),
            "{ended:?}"
        );
        assert!(
            ended.stderr.contains("Session 2 started (coding)"),
            "{ended:?}"
        );
    }

    // Shows: spec/9.1/none-passed-any, spec/9.1/partly-passed-any
    #[test]
    fn a_run_with_a_ledger_works_on_pending_deliverables() {
        for passed in [false, true] {
            let project = Project::new();
            project.write_ledger(&[("DL-001", passed, false), ("DL-002", false, false)]);
            let rest: &[&str] = if passed {
                &["DL-002"]
            } else {
                &["DL-001", "DL-002"]
            };

            let ended = scripted(&project, &Script::new().passes(rest), &["run"]);

            assert_eq!(ended.code, Some(0), "{ended:?}");
            assert!(
                ended.stderr.contains("Session 1 started (coding)"),
                "{ended:?}"
            );
            assert!(
                ended.stdout.contains("2 of 2 deliverables passed"),
                "{ended:?}"
            );
        }
    }

    #[test]
    fn when_all_have_passed_no_session_is_started() {
        let project = Project::new();
        project.write_ledger(&[("DL-001", true, false)]);

        let ended = scripted(&project, &Script::new().session([ends()]), &["run"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended
                .stdout
                .contains("1 of 1 deliverables passed; 0 iterations"),
            "{ended:?}"
        );
    }

    #[test]
    fn a_run_with_all_deliverables_blocked_ends_with_exit_code_3() {
        let project = Project::new();
        let script = Script::new()
            .plans(&["DL-001"])
            .session([sets("DL-001", "blocked"), ends()]);

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(
            ended.stderr.contains("[BLOCKED] The thing DL-001 (DL-001)"),
            "{ended:?}"
        );
        assert!(
            ended.stdout.contains("all deliverables are blocked"),
            "{ended:?}"
        );
    }

    // Shows: spec/8.1/max-iterations
    #[test]
    fn max_iterations_ends_the_run_with_exit_code_4() {
        let project = Project::new();
        let script = Script::new()
            .plans(&["DL-001", "DL-002"])
            .passes(&["DL-001"])
            .session([text_step("more"), ends()]);

        let ended = scripted(&project, &script, &["run", "-n", "2"]);

        assert_eq!(ended.code, Some(4), "{ended:?}");
        assert!(
            ended
                .stdout
                .contains("1 of 2 deliverables passed; 2 iterations"),
            "{ended:?}"
        );
    }

    #[test]
    fn a_spent_quota_ends_the_run_with_exit_code_5() {
        let project = Project::new();
        let script = Script::new().session([json!({"hitsQuota": null})]);

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(5), "{ended:?}");
        assert!(ended.stdout.contains("the quota is spent"), "{ended:?}");
    }

    // Shows: spec/8.1/wait-for-quota
    #[test]
    fn a_run_waits_for_the_quota_to_reset() {
        let project = Project::new();
        let script = Script::new()
            .session([hits_short_quota()])
            .plans(&["DL-001"])
            .passes(&["DL-001"]);

        let ended = scripted(&project, &script, &["run", "--wait-for-quota"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended.stderr.contains("Quota exceeded, waiting ")
                && ended.stderr.contains("Quota resets at: "),
            "{ended:?}"
        );
    }

    #[test]
    fn a_quota_reset_after_the_time_budget_ends_the_run_with_the_reset_time() {
        let project = Project::new();
        let script = Script::new().session([json!({"hitsQuota": "2199-01-31T12:00:00Z"})]);

        let arguments = ["run", "--wait-for-quota", "--max-time=90m"];
        let ended = scripted(&project, &script, &arguments);

        assert_eq!(ended.code, Some(5), "{ended:?}");
        let reason = "the quota resets at 2199-01-31 12:00:00Z; the next session would start after the end of the time budget";
        assert!(ended.stdout.contains(reason), "{ended:?}");
        assert!(!ended.stderr.contains("budget is spent"), "{ended:?}");
    }

    #[test]
    fn a_spent_budget_ends_the_run_with_exit_code_6() {
        let project = Project::new();
        let script = Script::new()
            .plans(&["DL-001"])
            .session([text_step("more"), ends()])
            .session([text_step("more"), ends()]);

        let ended = scripted(&project, &script, &["run", "--max-cost=0.40"]);

        assert_eq!(ended.code, Some(6), "{ended:?}");
        assert!(ended.stdout.contains("budget is spent"), "{ended:?}");
    }

    #[test]
    fn a_session_that_counts_as_failed_is_not_reported_as_completed() {
        let project = Project::new();
        let script = Script::new()
            .session([text_step("I looked around."), ends()])
            .session([ends()]);

        let ended = scripted(&project, &script, &["run", "--max-retries=1"]);
        let log = CommandOutput::run(autonoe(&project, &["log"]));

        assert_eq!(ended.code, Some(7), "{ended:?}");
        for line in [
            "Session 1 completed without creating deliverables (",
            "Session 2 completed, but counts as failed: the agent ended its session without",
        ] {
            assert!(ended.stderr.contains(line), "{line}: {ended:?}");
            assert!(log.stdout.contains(line), "{line}: {log:?}");
        }
    }

    // Shows: spec/8.1/max-retries
    #[test]
    fn too_many_consecutive_failures_end_the_run() {
        let project = Project::new();
        let fails = || [json!({"endsWithError": "it broke"})];
        let script = Script::new().session(fails()).session(fails());

        let ended = scripted(&project, &script, &["run", "--max-retries=1"]);

        assert_eq!(ended.code, Some(7), "{ended:?}");
        assert!(ended.stdout.contains("it broke"), "{ended:?}");
    }

    fn idles(script: Script, sessions: usize) -> Script {
        (0..sessions).fold(script, |script, _| {
            script.session([text_step("I looked around."), ends()])
        })
    }

    #[test]
    fn stalled_sessions_end_the_run() {
        let project = Project::new();
        let script = idles(Script::new().plans(&["DL-001"]), 5);

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(8), "{ended:?}");
        let reason = "the last 5 sessions changed nothing: no deliverable, no commit, no file";
        assert!(ended.stdout.contains(reason), "{ended:?}");
        assert_eq!(
            ended.stderr.matches(", no progress)").count(),
            5,
            "{ended:?}"
        );
        assert!(ended.stderr.contains("hint: `autonoe log`"), "{ended:?}");
        assert!(ended.stderr.contains("--max-stalled-sessions"), "{ended:?}");
        let log = CommandOutput::run(autonoe(&project, &["log"]));
        assert!(log.stdout.contains(reason), "{log:?}");
        assert_eq!(log.stdout.matches(", no progress)").count(), 5, "{log:?}");
        let page = CommandOutput::run(autonoe(&project, &["report", "-o", "-"]));
        assert!(
            page.stdout.contains("he last 5 sessions changed nothing"),
            "{page:?}"
        );
        assert_eq!(page.stdout.matches(", no progress").count(), 5, "{page:?}");
    }

    #[test]
    fn notes_and_ignored_files_do_not_count_as_changes() {
        let project = Project::new();
        project.write(".gitignore", "target/\n");
        let writes = |path: &str, text: String| json!({"writes": {"path": path, "text": text}});
        let script = (0..5).fold(Script::new().plans(&["DL-001"]), |script, session| {
            script.session([
                writes("target/out", format!("built {session}")),
                writes(".autonoe-note.md", format!("nothing works {session}")),
                ends(),
            ])
        });

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(8), "{ended:?}");
    }

    #[test]
    fn a_changed_project_file_resets_the_stall_limit() {
        let project = Project::new();
        let writes = json!({"writes": {"path": "src/main.rs", "text": "fn main() {}"}});
        let script = idles(Script::new().plans(&["DL-001"]), 2).session([writes, ends()]);
        let script = idles(script, 2).passes(&["DL-001"]);

        let ended = scripted(&project, &script, &["run", "--max-stalled-sessions=3"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
    }

    #[test]
    fn a_sync_that_never_verifies_is_ended() {
        let project = Project::new();
        project.write_ledger(&[("DL-001", true, false)]);
        let script = idles(
            Script::new().session([text_step("all is there"), ends()]),
            2,
        );

        let ended = scripted(&project, &script, &["sync", "--max-stalled-sessions=2"]);

        assert_eq!(ended.code, Some(8), "{ended:?}");
        let reason = "the last 2 sessions changed nothing: no deliverable was verified or updated";
        assert!(ended.stdout.contains(reason), "{ended:?}");
    }
}

mod configuration {
    use super::*;

    // Shows: spec/6.3/user-extensions, spec/9.3/commands
    #[test]
    fn commands_of_the_file_are_added_to_the_baseline() {
        let project = Project::new();
        project.write(".autonoe/agent.json", r#"{"allowCommands": ["just"]}"#);
        let script = Script::new().plans(&["DL-001"]).session([
            uses("Bash", json!({"command": "just build && ls"})),
            is_denied_by(
                "bash-security",
                "Bash",
                json!({"command": "curl example.com"}),
            ),
            sets("DL-001", "passed"),
            ends(),
        ]);

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
    }

    // Shows: spec/6.3/profile-commands
    #[test]
    fn a_profile_leaves_the_commands_of_others_out() {
        for (profile, npm, pytest) in [
            (None, true, true),
            (Some(r#""node""#), true, false),
            (Some(r#""python""#), false, true),
            (Some(r#"["node", "python"]"#), true, true),
        ] {
            let project = Project::new();
            if let Some(profile) = profile {
                let config = format!(r#"{{"profile": {profile}}}"#);
                project.write(".autonoe/agent.json", &config);
            }
            let step = |command: &str, is_open: bool| {
                let input = json!({"command": command});
                if is_open {
                    uses("Bash", input)
                } else {
                    is_denied_by("bash-security", "Bash", input)
                }
            };
            let script = Script::new().plans(&["DL-001"]).session([
                step("npm install", npm),
                step("pytest", pytest),
                sets("DL-001", "passed"),
                ends(),
            ]);

            let ended = scripted(&project, &script, &["run"]);

            assert_eq!(ended.code, Some(0), "{profile:?}: {ended:?}");
        }
    }

    // Shows: spec/9.3/removing-autonoe-protection
    #[test]
    fn our_own_folder_stays_protected_whatever_the_file_grants() {
        let project = Project::new();
        let config = r#"{"permissions": {"allow": ["Write(./.autonoe/**)"]}}"#;
        project.write(".autonoe/agent.json", config);
        let forged = json!({"file_path": ".autonoe/status.json", "content": "{}"});
        let script = Script::new().plans(&["DL-001"]).session([
            is_denied_by("autonoe-protection", "Write", forged),
            sets("DL-001", "passed"),
            ends(),
        ]);

        let ended = scripted(&project, &script, &["run"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
    }

    #[test]
    fn a_broken_file_is_reported_with_its_place_and_a_hint() {
        for (text, expected) in [
            (
                "{\n  \"profile\": \"nodejs\"\n}",
                &["agent.json:2", "nodejs"][..],
            ),
            (
                "{\n  \"profle\": \"node\"\n}",
                &["agent.json:2", "profle", "profile"],
            ),
            ("{\n", &["agent.json:"]),
        ] {
            let project = Project::new();
            project.write(".autonoe/agent.json", text);

            let ended = scripted(&project, &Script::new().session([ends()]), &["run"]);

            assert_eq!(ended.code, Some(1), "{ended:?}");
            for part in expected {
                assert!(ended.stderr.contains(part), "{part}: {ended:?}");
            }
            assert_eq!(project.read(".autonoe/agent.json"), text, "it is kept");
        }
    }
}

mod sync {
    use super::*;

    fn verifies(id: &str) -> serde_json::Value {
        uses("mcp__autonoe__verify", json!({"deliverableId": id}))
    }

    // Shows: spec/9.5/not-there, spec/8.3/sync-strategy
    #[test]
    fn without_a_ledger_all_deliverables_are_created_as_pending_and_verified() {
        let project = Project::new();
        let script = Script::new().plans(&["DL-001"]).session([
            sets("DL-001", "passed"),
            verifies("DL-001"),
            ends(),
        ]);

        let ended = scripted(&project, &script, &["sync"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended.stderr.contains("Session 1 started (sync)"),
            "{ended:?}"
        );
        assert!(
            ended.stderr.contains("[PENDING] The thing DL-001 (DL-001)"),
            "{ended:?}"
        );
        assert!(
            ended.stderr.contains("Session 2 started (verify)"),
            "{ended:?}"
        );
        assert!(ended.stderr.contains("[VERIFIED] DL-001"), "{ended:?}");
        assert!(ended.stdout.contains("1 of 1 verified"), "{ended:?}");
    }

    // Shows: spec/8.3/sync-strategy
    #[test]
    fn deprecated_deliverable_keeps_its_record() {
        let project = Project::new();
        project.write_ledger(&[("DL-001", true, false), ("DL-002", true, false)]);
        let script = Script::new()
            .session([
                uses(
                    "mcp__autonoe__deprecate",
                    json!({"deliverableId": "DL-002"}),
                ),
                ends(),
            ])
            .session([verifies("DL-001"), ends()]);

        let ended = scripted(&project, &script, &["sync"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains("[DEPRECATED] DL-002"), "{ended:?}");
        let ledger = project.ledger().expect("it is there");
        let dropped = &ledger["deliverables"][1];
        assert!(dropped["deprecatedAt"].is_string(), "{ledger}");
        assert_eq!(dropped["passed"], json!(true));
    }

    // Shows: spec/6.4/playwright, spec/8.3/read-only
    #[test]
    fn tools_that_change_the_project_are_not_there() {
        let project = Project::new();
        project.write_ledger(&[("DL-001", false, false)]);
        let script = Script::new()
            .session([text_step("nothing new"), ends()])
            .session([
                is_denied_by(
                    "autonoe-protection",
                    "Write",
                    json!({"file_path": "src/main.rs", "content": ""}),
                ),
                is_denied_by(
                    "autonoe-protection",
                    "Edit",
                    json!({"file_path": "src/main.rs"}),
                ),
                uses(
                    "Write",
                    json!({"file_path": ".autonoe-note.md", "content": "seen"}),
                ),
                is_denied_by("bash-security", "Bash", json!({"command": "npm install"})),
                uses("Bash", json!({"command": "npm test"})),
                uses("Bash", json!({"command": "git status"})),
                is_denied_by(
                    "grants",
                    "mcp__playwright__browser_navigate",
                    json!({"url": "http://localhost"}),
                ),
                verifies("DL-001"),
                ends(),
            ]);

        let ended = scripted(&project, &script, &["sync"]);

        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}
