//! Cancelled and killed fleets, and how they resume.

use crate::harness::fixture::{Fixture, RunningCommand, eventually, run as run_with};

#[test]
fn the_same_command_resumes_a_killed_fleet() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents, "--json"];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");
    fixture.until_member_is("docs", "completed");

    run.kill();
    eventually("the end of its members", || fixture.left_processes() == 0);
    let status = fixture.harness(&["status"]);
    fixture.release("go");
    let ended = fixture.run(&options).end();

    assert!(
        status
            .stdout
            .contains("unfinished: run the same command to resume it"),
        "{status:?}"
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let outcome: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(outcome["success"], true, "{outcome:#}");
    assert_eq!(outcome["results"].as_array().map(Vec::len), Some(3));
    for file in ["src/parser.txt", "src/shell.txt", "docs.md"] {
        assert!(fixture.has(file), "{file}");
    }
    let docs = fixture.read(".harness/roadmap.docs/work.jsonl");
    assert_eq!(
        docs.matches("\"serving\"").count(),
        1,
        "it was not done twice: {docs}"
    );
    assert_eq!(
        fixture.git(&["branch", "--format=%(refname:short)"]),
        "main\n"
    );
    assert_eq!(fixture.left_processes(), 0);
}

#[test]
fn an_interrupted_fleet_can_be_resumed() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");

    run.interrupt();
    let left = run.end();

    assert_eq!(left.code, Some(130), "{left:?}");
    assert!(
        left.stderr
            .contains("leaving; interrupt again to exit immediately"),
        "{left:?}"
    );
    assert!(
        left.stderr.contains("run the same command to resume it"),
        "{left:?}"
    );
    assert_eq!(fixture.left_processes(), 0);
    assert_eq!(fixture.member("parser")["status"], "pending");
    let log = fixture.read(".harness/roadmap.parser/harness.log");
    assert!(
        log.contains("the process ended; the run can be resumed"),
        "{log}"
    );
    fixture.release("go");
    let ended = fixture.run(&options).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(fixture.has("src/shell.txt"));
}

#[test]
fn a_fleet_with_a_cost_budget_resumes_after_an_interrupt_or_a_kill() {
    for is_killed in [false, true] {
        let fixture = Fixture::new();
        let agents = fixture.usual_agents(&[("parser", "go"), ("docs", "go")]);
        let options = ["--backend", &agents, "--max-cost", "100"];
        let run = fixture.run(&options);
        fixture.until_log_has("parser", "Session 1 started");

        if is_killed {
            run.kill();
        } else {
            run.interrupt();
            assert_eq!(run.end().code, Some(130));
        }
        eventually("the end of its members", || fixture.left_processes() == 0);
        fixture.release("go");
        let ended = fixture.run(&options).end();

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(fixture.has("src/shell.txt"));
    }
}

#[test]
fn a_corrupt_member_journal_is_reported_and_not_changed() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");
    run.interrupt();
    run.end();
    let journal = ".harness/roadmap.parser/work.jsonl";
    let whole = fixture.read(journal);
    let (_, rest) = whole.split_once('\n').expect("lines");
    let damaged = format!("garbage\n{rest}");
    fixture.write(journal, &damaged);
    fixture.release("go");

    let refused = fixture.run(&options).end();
    let left = fixture.read(journal);
    fixture.write(journal, &whole);
    let ended = fixture.run(&options).end();

    assert_eq!(refused.code, Some(1), "{refused:?}");
    for named in ["roadmap.parser/work.jsonl", "line 1"] {
        assert!(refused.stderr.contains(named), "{refused:?}");
    }
    assert_eq!(left, damaged);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_fleet_resumes_after_its_project_was_moved() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");
    run.interrupt();
    run.end();
    let moved = fixture.sibling_path("moved");
    std::fs::rename(fixture.project(), &moved).expect("ours");
    fixture.release("go");

    let mut command = fixture.command(&run_with(&options));
    command.current_dir(&moved);
    let ended = RunningCommand::start(command).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(moved.join("src/shell.txt").exists());
}

#[test]
fn stopping_a_fleet_without_a_coordinator_prints_its_outcome() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "never")]);
    let options = ["--backend", &agents];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");
    run.interrupt();
    assert_eq!(run.end().code, Some(130));

    let stopped = fixture.harness(&["stop"]);

    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let hint = "this fleet has no coordinator now; the `autonoe harness run` command that started \
                it ends it";
    assert!(stopped.stderr.contains(hint), "{stopped:?}");
    let status = fixture.harness(&["status"]);
    let expected = "stopping without a coordinator: run the same command to end it";
    assert!(status.stdout.contains(expected), "{status:?}");
    assert_eq!(fixture.run(&options).end().code, Some(1));
    let status = fixture.harness(&["status"]);
    assert!(status.stdout.contains("(graph): stopped"), "{status:?}");
}

#[test]
fn a_fleet_is_led_by_one_command_at_a_time() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");

    let second = fixture.run(&options).end();

    assert_eq!(second.code, Some(1), "{second:?}");
    let led = format!("process {} already runs the fleet roadmap", run.pid());
    assert!(second.stderr.contains(&led), "{second:?}");
    fixture.release("go");
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn a_second_interrupt_ends_everything_at_once() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "never")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");

    run.interrupt();
    run.interrupt();
    let ended = run.end();

    assert_eq!(ended.code, Some(130), "{ended:?}");
    eventually("the end of its members", || fixture.left_processes() == 0);
}

#[test]
fn a_roadmap_is_recognised_by_any_path() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let first = fixture.run(&["--backend", &agents]).end();
    let whole = fixture.project().join("ROADMAP.md");

    let whole = whole.to_str().expect("text");
    let second = fixture.harness(&["run", whole, "--backend", &agents]);

    assert_eq!((first.code, second.code), (Some(0), Some(0)), "{second:?}");
}
