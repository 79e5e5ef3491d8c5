//! Whole fleets, from the roadmap to the merged work.

use serde_json::json;

use crate::harness::fixture::{Fixture, ends, eventually, session, text_step, waits_for, writes};

#[test]
fn tasks_run_in_dependency_order_and_are_merged() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);

    let ended = fixture.run(&["--backend", &agents]).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("Fleet roadmap succeeded"),
        "{ended:?}"
    );
    assert!(
        ended.stdout.contains("3 of 3 members done, $0.75"),
        "{ended:?}"
    );
    let place = |text: &str| {
        ended
            .stderr
            .find(text)
            .unwrap_or_else(|| panic!("{ended:?}"))
    };
    assert!(place("parser done") < place("shell started"), "{ended:?}");
    for file in ["src/parser.txt", "src/shell.txt", "docs.md"] {
        assert!(fixture.has(file), "{file}");
    }
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    assert_eq!(
        fixture.git(&["branch", "--format=%(refname:short)"]),
        "main\n"
    );
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(fixture.left_processes(), 0);
}

#[test]
fn a_project_in_a_folder_of_a_repository_is_worked_on_in_that_folder() {
    let fixture = Fixture::new();
    fixture.git(&["rm", "-q", "ROADMAP.md"]);
    fixture.write("sub/ROADMAP.md", crate::harness::fixture::ROADMAP);
    fixture.write("other/kept.txt", "of somebody else\n");
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "A folder for the project"]);
    let agents = fixture.usual_agents(&[]);
    let mut command = fixture.command(&crate::harness::fixture::run(&["--backend", &agents]));
    command.current_dir(fixture.project().join("sub"));

    let ended = crate::harness::fixture::RunningCommand::start(command).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let files = fixture.git(&["ls-files"]);
    let expected = [
        "other/kept.txt",
        "sub/ROADMAP.md",
        "sub/docs.md",
        "sub/src/parser.txt",
        "sub/src/shell.txt",
    ];
    assert_eq!(files.lines().collect::<Vec<_>>(), expected);
    assert!(fixture.has("sub/src/shell.txt"));
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn rerunning_a_finished_fleet_only_prints_its_result() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let options = ["--backend", &agents, "--json"];
    let first = fixture.run(&options).end();
    let head = fixture.git(&["rev-parse", "HEAD"]);

    let second = fixture.run(&options).end();

    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(second.stdout, first.stdout);
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head);
    assert!(!first.stderr.contains("nothing was run"), "{first:?}");
    assert!(
        second.stderr.contains("the fleet roadmap ended at 2"),
        "{second:?}"
    );
    assert!(second.stderr.contains("--name"), "{second:?}");
}

#[test]
fn the_first_success_of_a_race_is_merged_and_the_others_are_cleaned_up() {
    let fixture = Fixture::new();
    let runner = |name: &str, hold: bool| {
        let tasks = ["parser", "shell", "docs"].map(|task| {
            let wait = hold.then(|| waits_for(&fixture.sibling_path("never")));
            let path = match task {
                "docs" => "docs.md".to_owned(),
                task => format!("src/{task}.txt"),
            };
            session(task, wait.into_iter().chain([writes(&path, name), ends()]))
        });
        fixture.agents(name, &tasks)
    };
    let (slow, fast) = (runner("slow", true), runner("fast", false));
    let candidates = [format!("slow={slow}"), format!("fast={fast}")];

    let options = [
        "--strategy",
        "race",
        "--backend",
        &candidates[0],
        "--backend",
        &candidates[1],
    ];
    let ended = fixture.run(&options).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("won by fast"), "{ended:?}");
    assert_eq!(fixture.read("src/parser.txt"), "fast\n");
    assert_eq!(
        fixture.git(&["branch", "--format=%(refname:short)"]),
        "main\n"
    );
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(fixture.left_processes(), 0);
}

#[test]
fn the_best_of_a_vote_is_merged() {
    let fixture = Fixture::new();
    fixture.write(
        "ROADMAP.md",
        "## Objective\nA file.\n## Tasks\n- [ ] **file**: Write it.\n",
    );
    fixture.git(&["commit", "-qam", "Another roadmap"]);
    // The first succeeds on its third attempt, the second immediately, the third never.
    fixture.write("ROADMAP.md", "## Objective\nA file.\n## Tasks\n- [ ] **file**: Write it.\n  - model: large\n  - success: `grep -q good file.txt`\n");
    fixture.git(&["commit", "-qam", "With a check"]);
    let good = |name: &str| {
        session(
            "file",
            [writes("file.txt", &format!("good {name}")), ends()],
        )
    };
    let bad = |number: u32| {
        let text = format!("draft {number}");
        session(
            "file",
            [writes("file.txt", &text), text_step(&text), ends()],
        )
    };
    let late = fixture.agents("late", &[bad(1), bad(2), good("late")]);
    let early = fixture.agents("early", &[good("early")]);
    let never = fixture.agents(
        "never",
        &[json!({"name": "x", "instruction": "task-file",
        "steps": [{"endsWithError": "I cannot."}]})],
    );
    let candidates = [
        format!("late={late}"),
        format!("early={early}"),
        format!("never={never}"),
    ];

    let mut options = vec![
        "--strategy",
        "voting:lowest-failures",
        "--wait-for-all",
        "--json",
    ];
    options.extend(candidates.iter().flat_map(|it| ["--backend", it.as_str()]));
    let ended = fixture.run(&options).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ignored = "the task \"file\" names a backend or a model, which has no effect in a race";
    assert!(ended.stderr.contains(ignored), "{ended:?}");
    let outcome: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(outcome["winner"], "early", "{outcome:#}");
    assert_eq!(outcome["results"].as_array().map(Vec::len), Some(3));
    assert_eq!(fixture.read("file.txt"), "good early\n");
    assert_eq!(
        fixture.git(&["branch", "--format=%(refname:short)"]),
        "main\n"
    );
}

#[test]
fn a_vote_stops_the_others_at_min_votes_unless_all_are_waited_for() {
    for wait_for_all in [false, true] {
        let fixture = Fixture::new();
        let roadmap = "## Objective\nA file.\n## Tasks\n- [ ] **file**: Write it.\n";
        fixture.write("ROADMAP.md", roadmap);
        fixture.git(&["commit", "-qam", "One task"]);
        let quick = |name: &str| {
            let agents =
                fixture.agents(name, &[session("file", [writes("file.txt", name), ends()])]);
            format!("{name}={agents}")
        };
        let late = session(
            "file",
            [
                waits_for(&fixture.sibling_path("go")),
                writes("file.txt", "late"),
                ends(),
            ],
        );
        let late = format!("late={}", fixture.agents("late", &[late]));
        let candidates = [late, quick("one"), quick("two")];
        let mut options = vec!["--strategy", "voting:best-tests", "--json"];
        options.extend(wait_for_all.then_some("--wait-for-all"));
        options.extend(candidates.iter().flat_map(|it| ["--backend", it.as_str()]));

        let run = fixture.run(&options);
        if wait_for_all {
            fixture.until_member_is("one", "completed");
            fixture.until_member_is("two", "completed");
            fixture.until_member_is("late", "running");
            fixture.release("go");
        }
        let ended = run.end();

        assert_eq!(ended.code, Some(0), "{ended:?}");
        let outcome: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let late = &outcome["results"][0];
        assert_eq!(late["id"], "late", "{outcome:#}");
        assert_eq!(late["success"], wait_for_all, "{outcome:#}");
        assert_ne!(outcome["winner"], "late", "{outcome:#}");
        let warning = "voting:best-tests decides by the first member to end";
        assert!(ended.stderr.contains(warning), "{ended:?}");
    }
}

#[test]
fn work_that_fails_its_check_is_not_deleted_and_dependent_tasks_do_not_start() {
    let fixture = Fixture::new();
    let agents = fixture.agents(
        "agents",
        &[
            session(
                "parser",
                [writes("src/other.txt", "other"), text_step("Done."), ends()],
            ),
            session("docs", [writes("docs.md", "docs"), ends()]),
        ],
    );

    let ended = fixture
        .run(&["--backend", &agents, "--max-iterations", "2"])
        .end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("Fleet roadmap failed"), "{ended:?}");
    let notice = "Work is kept on the branch autonoe/roadmap/parser in ";
    assert!(ended.stdout.contains(notice), "{ended:?}");
    assert!(fixture.has("docs.md"));
    assert!(!fixture.has("src/other.txt"));
    let work = fixture.git(&["show", "autonoe/roadmap/parser:src/other.txt"]);
    assert_eq!(work, "other\n");
    assert_eq!(fixture.member("shell")["status"], "pending");
}

#[test]
fn agents_stay_in_their_folder_and_cannot_change_the_state_of_fleets() {
    let fixture = Fixture::without_repository();
    fixture.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **escape**: Try it.\n",
    );
    // Agents of a run may write to `/tmp`.
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let outside = folder.path().join("outside.txt");
    let agents = fixture.agents(
        "agents",
        &[session(
            "escape",
            [
                writes(outside.to_str().expect("text"), "outside"),
                writes(".harness/roadmap.escape/outcome.json", "{}"),
                writes(".autonoe/agent.json", "{}"),
                writes("inside.txt", "inside"),
                ends(),
            ],
        )],
    );

    let ended = fixture.run(&["--backend", &agents, "--no-worktrees"]).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(fixture.read("inside.txt"), "inside\n");
    assert!(!outside.exists());
    assert!(!fixture.has(".autonoe/agent.json"));
    let log = fixture.read(".harness/roadmap.escape/harness.log");
    assert_eq!(log.matches("Denied Write").count(), 3, "{log}");
}

#[test]
fn a_fleet_that_exceeds_its_time_limit_is_cut_short_and_leaves_no_process() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "never")]);

    let ended = fixture
        .run(&["--backend", &agents, "--max-time", "3s"])
        .end();

    assert_eq!(ended.code, Some(6), "{ended:?}");
    let message = "Fleet roadmap ended early: the fleet reached its time limit";
    assert!(ended.stdout.contains(message), "{ended:?}");
    assert_eq!(fixture.left_processes(), 0);
}

#[test]
fn exhausted_members_end_the_fleet_with_the_exit_code_of_a_budget() {
    let fixture = Fixture::new();
    let steps = [text_step("Not yet."), ends()];
    let tasks = ["parser", "shell", "docs"];
    let agents = fixture.agents("agents", &tasks.map(|task| session(task, steps.clone())));
    for (name, limit) in [
        ("sessions", ["--max-sessions", "3"]),
        ("cost", ["--max-cost", "0.75"]),
    ] {
        let limits = ["--backend", &agents, "--name", name, limit[0], limit[1]];

        let ended = fixture.run(&limits).end();

        assert_eq!(ended.code, Some(6), "{ended:?}");
    }
    let failed = fixture.run(&["--backend", &agents, "--max-iterations", "1"]);
    assert_eq!(failed.end().code, Some(1));
}

#[test]
fn a_budget_that_is_too_small_for_any_member_is_refused_before_the_start() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);

    let ended = fixture
        .run(&["--backend", &agents, "--max-sessions", "1"])
        .end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("the member parser has a sessions budget of 0"),
        "{ended:?}"
    );
    assert!(!fixture.has(".harness"));
}

#[test]
fn secrets_are_not_in_files_or_arguments_or_in_unrelated_members() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let mut command = fixture.command(&crate::harness::fixture::run(&["--backend", &agents]));
    command.env("AUTONOE_SIGNING_KEY_OPS", "whsec_c2VjcmV0");
    command.env("ANTHROPIC_API_KEY", "sk-secret");

    let run = crate::harness::fixture::RunningCommand::start(command);
    fixture.until_log_has("parser", "Session 1 started");
    let status = fixture.read(".harness/roadmap.parser/status.json");
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let pid = status["process"]["pid"].as_u64().expect("it is served");
    let of_process = |name: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{name}")).expect("it lives");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (environment, arguments) = (of_process("environ"), of_process("cmdline"));

    assert!(
        !environment.contains("c2VjcmV0"),
        "keys of webhooks are nobody's but ours"
    );
    assert!(!arguments.contains("scripted:"), "{arguments}");
    fixture.release("go");
    assert_eq!(run.end().code, Some(0));
    let found = std::process::Command::new("grep")
        .args(["-rlE", "sk-secret|c2VjcmV0", ".harness"])
        .current_dir(fixture.project())
        .output()
        .expect("it starts");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    eventually("the end of all", || fixture.left_processes() == 0);
}
