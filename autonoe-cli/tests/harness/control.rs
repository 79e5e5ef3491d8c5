//! Observing and controlling a running fleet.

use serde_json::json;

use crate::harness::fixture::{Fixture, ends, eventually, session, text_step, waits_for, writes};

#[test]
fn status_lists_all_members_of_a_running_fleet() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_member_is("docs", "completed");
    fixture.until_member_is("parser", "running");

    let status = fixture.harness(&["status"]);
    let json = fixture.json(&["status", "roadmap"]);

    assert_eq!(status.code, Some(0));
    let head = format!(
        "roadmap (graph): running, coordinator process {}",
        run.pid()
    );
    assert!(status.stdout.starts_with(&head), "{status:?}");
    for member in ["parser  running", "shell   pending", "docs    completed"] {
        assert!(status.stdout.contains(member), "{status:?}");
    }
    let fleet = &json["fleets"][0];
    assert_eq!(fleet["coordinator"], run.pid());
    assert_eq!(fleet["now"]["phase"], "running");
    assert_eq!(fleet["now"]["objective"], "A calculator for the terminal.");
    assert_eq!(fleet["now"]["totals"]["done"], 1);
    assert_eq!(fleet["result"], json!(null));
    fixture.release("go");
    assert_eq!(run.end().code, Some(0));
    let json = fixture.json(&["status"]);
    assert_eq!(json["fleets"][0]["now"]["phase"], "succeeded");
    assert_eq!(json["fleets"][0]["result"]["success"], true);
}

#[test]
fn a_sent_instruction_is_in_the_next_turn_of_the_agent() {
    let fixture = Fixture::new();
    fixture.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **one**: Do it.\n  - success: `test -f two.txt`\n",
    );
    fixture.git(&["commit", "-qam", "One task"]);
    let agents = fixture.agents(
        "agents",
        &[
            session(
                "one",
                [
                    writes("one.txt", "1"),
                    waits_for(&fixture.sibling_path("go")),
                    ends(),
                ],
            ),
            session("one", [writes("two.txt", "2"), text_step("Two."), ends()]),
        ],
    );
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("one", "Session 1 started");

    let sent = fixture.harness(&["send", "one", "Use tabs."]);
    let second = fixture.json(&["send", "roadmap.one", "And no blanks."]);
    fixture.until_log_has("one", "instruction 2 waits for a turn");
    fixture.release("go");
    let ended = run.end();

    assert_eq!(
        sent.stdout,
        "one gets the message in its next turn, if it has one (message 1)\n"
    );
    assert_eq!(second["instruction"], 2);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let journal = fixture.read(".harness/roadmap.one/work.jsonl");
    // Apart from the facts that record the sent instructions, the task loop records each delivery
    // once.
    let deliveries = |text: &str| {
        let events = journal
            .lines()
            .filter(|line| line.starts_with("{\"event\""));
        events.filter(|line| line.contains(text)).count()
    };
    assert_eq!(deliveries("Use tabs."), 1, "{journal}");
    assert_eq!(deliveries("And no blanks."), 1, "{journal}");
    let log = fixture.read(".harness/roadmap.one/harness.log");
    let place = |text: &str| log.find(text).unwrap_or_else(|| panic!("{log}"));
    assert!(
        place("Session 1 completed") < place("instruction 2 delivered"),
        "{log}"
    );
    assert!(
        !ended.stderr.contains("arrived after the last turn"),
        "{ended:?}"
    );
    let late = fixture.harness(&["send", "one", "Too late."]);
    assert_eq!(late.code, Some(1));
    assert!(late.stderr.contains("one has ended"), "{late:?}");
}

#[test]
fn an_instruction_in_the_last_turn_is_reported_as_unread() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("docs", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("docs", "Session 1 started");

    let sent = fixture.harness(&["send", "docs", "Use tabs."]);
    fixture.until_log_has("docs", "instruction 1 waits for a turn");
    fixture.release("go");
    let ended = run.end();

    assert_eq!((sent.code, ended.code), (Some(0), Some(0)), "{ended:?}");
    let late = "instruction 1 arrived after the last turn of the agent";
    assert!(ended.stderr.contains(late), "{ended:?}");
    let status = fixture.harness(&["status"]);
    assert!(status.stdout.contains(late), "{status:?}");
    let log = fixture.read(".harness/roadmap.docs/harness.log");
    assert_eq!(log.matches(late).count(), 1, "{log}");
    assert!(!log.contains("instruction 1 delivered"), "{log}");
}

#[test]
fn a_member_is_paused_and_resumed() {
    let fixture = Fixture::new();
    fixture.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **one**: Do it.\n  - success: `test -f two.txt`\n",
    );
    fixture.git(&["commit", "-qam", "One task"]);
    let agents = fixture.agents(
        "agents",
        &[
            session(
                "one",
                [
                    writes("one.txt", "1"),
                    waits_for(&fixture.sibling_path("go")),
                    ends(),
                ],
            ),
            session("one", [writes("two.txt", "2"), ends()]),
        ],
    );
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("one", "Session 1 started");

    let paused = fixture.harness(&["pause", "one"]);
    fixture.until_member_is("one", "paused");
    fixture.release("go");
    fixture.until_log_has("one", "Session 1 completed");

    assert_eq!(
        paused.stdout,
        "one starts no new work until it is resumed\n"
    );
    let log = fixture.read(".harness/roadmap.one/harness.log");
    assert_eq!(log.matches("Session 1 started").count(), 1, "{log}");
    let resumed = fixture.json(&["resume", "one"]);
    assert_eq!(resumed["members"], json!(["one"]));
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn a_paused_fleet_starts_no_member_until_it_is_resumed() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");

    let paused = fixture.json(&["pause"]);
    // The fleet shows as paused as soon as the pause is requested. The coordinator then pauses its
    // members.
    fixture.until_member_is("parser", "paused");
    let status = fixture.json(&["status"]);
    fixture.release("go");
    fixture.until_member_is("parser", "completed");

    assert_eq!(paused["wholeFleet"], true);
    assert_eq!(status["fleets"][0]["now"]["phase"], "paused");
    assert_eq!(fixture.member("shell")["status"], "pending");
    assert_eq!(fixture.harness(&["resume"]).code, Some(0));
    assert_eq!(run.end().code, Some(0));
    assert!(fixture.has("src/shell.txt"));
}

#[test]
fn a_stuck_member_of_an_attended_fleet_waits_for_an_answer() {
    let fixture = Fixture::new();
    let roadmap = "## Objective\nA file.\n## Tasks\n- [ ] **file**: Write it.\n  - success: `test -f file.txt`\n";
    fixture.write("ROADMAP.md", roadmap);
    fixture.git(&["commit", "-qam", "One task"]);
    // Three turns until it is stuck, and one after each of three other prompts.
    let stuck = (0..6).map(|_| session("file", [text_step("I cannot find the place."), ends()]));
    let helped = session("file", [writes("file.txt", "there"), ends()]);
    let sessions: Vec<_> = stuck.chain([helped]).collect();
    let agents = fixture.agents("agents", &sessions);
    let run = fixture.run(&["--backend", &agents, "--no-worktrees", "--attended"]);

    eventually("a question", || {
        fixture.member("file")["question"].is_string()
    });
    let status = fixture.harness(&["status"]);
    let sent = fixture.harness(&["send", "file", "It belongs into the root."]);
    let ended = run.end();

    let question = "file asks: The task file is stuck: ";
    assert!(status.stdout.contains(question), "{status:?}");
    let hint = "answer: autonoe harness send file TEXT";
    assert!(status.stdout.contains(hint), "{status:?}");
    assert_eq!(sent.code, Some(0), "{sent:?}");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("(file) The task file is stuck: "),
        "{ended:?}"
    );
    assert!(ended.stderr.contains(hint), "{ended:?}");
    assert_eq!(fixture.read("file.txt"), "there\n");
    assert!(fixture.member("file")["question"].is_null());
    let log = fixture.harness(&["logs", "file"]);
    assert!(log.stdout.contains("instruction 1 delivered"), "{log:?}");
}

#[test]
fn a_stuck_member_of_an_attended_fleet_resumes_without_an_answer() {
    let fixture = Fixture::new();
    let roadmap = "## Objective\nA file.\n## Tasks\n- [ ] **file**: Write it.\n  - success: `test -f file.txt`\n";
    fixture.write("ROADMAP.md", roadmap);
    fixture.git(&["commit", "-qam", "One task"]);
    let stuck = (0..6).map(|_| session("file", [text_step("I cannot find the place."), ends()]));
    let retried = session("file", [writes("file.txt", "there"), ends()]);
    let sessions: Vec<_> = stuck.chain([retried]).collect();
    let agents = fixture.agents("agents", &sessions);
    let run = fixture.run(&["--backend", &agents, "--no-worktrees", "--attended"]);
    eventually("a question", || {
        fixture.member("file")["question"].is_string()
    });

    let resumed = fixture.harness(&["resume", "file"]);
    let ended = run.end();

    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(fixture.read("file.txt"), "there\n");
    assert!(fixture.member("file")["question"].is_null());
}

#[test]
fn a_stuck_member_of_an_unattended_fleet_fails() {
    let fixture = Fixture::new();
    let roadmap = "## Objective\nA file.\n## Tasks\n- [ ] **file**: Write it.\n  - success: `test -f file.txt`\n";
    fixture.write("ROADMAP.md", roadmap);
    fixture.git(&["commit", "-qam", "One task"]);
    let stuck = (0..6).map(|_| session("file", [text_step("I cannot find the place."), ends()]));
    let agents = fixture.agents("agents", &stuck.collect::<Vec<_>>());

    let ended = fixture.run(&["--backend", &agents, "--no-worktrees"]).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let error = fixture.member("file")["error"].clone();
    let error = error.as_str().unwrap_or_default();
    assert!(error.contains("nobody is available to answer"), "{error}");
}

#[test]
fn a_stopped_member_ends_and_the_others_continue() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("docs", "never")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("docs", "Session 1 started");

    let stopped = fixture.harness(&["stop", "docs", "--reason", "nobody reads it"]);
    let ended = run.end();

    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(fixture.member("docs")["status"], "stopped");
    assert_eq!(fixture.member("docs")["error"], "nobody reads it");
    assert!(fixture.has("src/shell.txt"));
}

#[test]
fn a_fleet_that_is_stopped_has_ended_for_good() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "never"), ("docs", "never")]);
    let options = ["--backend", &agents];
    let run = fixture.run(&options);
    fixture.until_log_has("parser", "Session 1 started");

    let stopped = fixture.harness(&["stop", "--reason", "enough"]);
    let ended = run.end();

    assert_eq!(stopped.stdout, "the fleet roadmap is stopping\n");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.contains("Fleet roadmap was stopped: enough"),
        "{ended:?}"
    );
    assert_eq!(fixture.left_processes(), 0);
    let rerun = fixture.run(&options).end();
    assert!(rerun.stdout.contains("was stopped: enough"), "{rerun:?}");
}

#[test]
fn a_member_that_is_killed_leaves_nothing() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("docs", "never")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("docs", "Session 1 started");

    let killed = fixture.harness(&["kill", "docs", "--after", "0s"]);

    assert_eq!(killed.stdout, "docs was killed\n", "{killed:?}");
    assert_eq!(fixture.member("docs")["status"], "stopped");
    assert_eq!(run.end().code, Some(1));
    assert_eq!(fixture.left_processes(), 0);
    assert!(fixture.has("src/shell.txt"), "the others went on");
}

#[test]
fn a_whole_fleet_is_killed() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "never"), ("docs", "never")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");
    fixture.until_log_has("docs", "Session 1 started");

    let killed = fixture.json(&["kill", "--after", "0s"]);

    assert_eq!(killed["members"], json!(["parser", "docs"]));
    assert_eq!(run.end().code, Some(1));
    assert_eq!(fixture.left_processes(), 0);
}

#[test]
fn logs_are_followed_until_the_end() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");
    let all =
        crate::harness::fixture::RunningCommand::start(fixture.command(&["logs", "--follow"]));
    let one = crate::harness::fixture::RunningCommand::start(
        fixture.command(&["logs", "parser", "--follow"]),
    );

    fixture.release("go");

    let (all, one) = (all.end(), one.end());
    assert_eq!(run.end().code, Some(0));
    assert_eq!((all.code, one.code), (Some(0), Some(0)));
    for prefix in ["(coordinator): ", "parser: ", "docs: "] {
        assert!(all.stdout.contains(prefix), "{all:?}");
    }
    assert_eq!(
        one.stdout.matches("Session 1 started").count(),
        1,
        "{one:?}"
    );
    assert!(one.stdout.contains("completed"), "{one:?}");
    let last = fixture.harness(&["logs", "parser", "-n", "1", "--json"]);
    let line: serde_json::Value = serde_json::from_str(&last.stdout).expect("one line of JSON");
    assert_eq!(line["member"], "parser");
}
