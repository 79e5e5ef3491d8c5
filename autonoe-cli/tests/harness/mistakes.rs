//! Invalid inputs: reported with their location, before anything starts or changes.

use std::fs;
use std::os::unix::fs::symlink;

use rusqlite::Connection;

use crate::harness::fixture::Fixture;

#[test]
fn every_mistake_in_a_roadmap_is_reported_with_its_line() {
    let fixture = Fixture::new();
    fixture.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **a**: One.\n  - depends: nobody\n- [ ] **a**: Two.\n",
    );

    let ended = fixture.run(&[]).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("ROADMAP.md:4:1: a depends on nobody"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("ROADMAP.md:6:1: the task a"),
        "{ended:?}"
    );
    assert!(!fixture.has(".harness"));
}

#[test]
fn a_check_that_cannot_run_is_reported_before_the_start() {
    let fixture = Fixture::new();
    let roadmap = |command: &str| {
        let task = format!("- [ ] **a**: One.\n  - success: `{command}`\n");
        fixture.write("ROADMAP.md", &format!("## Objective\nX.\n## Tasks\n{task}"));
        fixture.git(&["commit", "-qam", "A roadmap"]);
    };

    for (command, expected) in [
        (
            "if true",
            "ROADMAP.md:5:14: the command does not run in a shell",
        ),
        (
            "/opt/missing --all",
            "ROADMAP.md:4: the task a is checked by \"/opt/missing\", which does not exist",
        ),
    ] {
        roadmap(command);
        let refused = fixture.run(&[]).end();

        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
        assert!(!fixture.has(".harness"), "{command}");
    }
    roadmap("made-by-an-agent");
    let agents = fixture.agents(
        "agents",
        &[crate::harness::fixture::session(
            "a",
            [crate::harness::fixture::ends()],
        )],
    );
    let odd = fixture
        .run(&["--backend", &agents, "--max-iterations", "1"])
        .end();
    let expected =
        "ROADMAP.md:4: the task a is checked by \"made-by-an-agent\", which is not on PATH now";
    assert!(odd.stderr.contains(expected), "{odd:?}");
}

#[test]
fn an_unknown_backend_of_a_task_is_reported_with_its_line() {
    let fixture = Fixture::new();
    fixture.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **a**: One.\n  - cli: nobody\n",
    );

    let ended = fixture.run(&[]).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expected = "ROADMAP.md:4: the task a names the backend \"nobody\"";
    assert!(ended.stderr.contains(expected), "{ended:?}");
    assert!(
        ended.stderr.contains("--backend nobody=BACKEND"),
        "{ended:?}"
    );
}

#[test]
fn a_symlink_in_the_place_of_all_fleets_is_refused_and_not_followed() {
    let fixture = Fixture::new();
    let target = fixture.sibling_path("elsewhere");
    fs::create_dir(&target).expect("writable");
    symlink(&target, fixture.project().join(".harness")).expect("writable");

    let agents = fixture.agents(
        "agents",
        &[crate::harness::fixture::session(
            "a",
            [crate::harness::fixture::ends()],
        )],
    );
    let run = fixture.run(&["--backend", &agents]).end();

    for refused in [run, fixture.harness(&["status"])] {
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(".harness"), "{refused:?}");
        assert!(refused.stderr.contains("a symlink"), "{refused:?}");
    }

    let left = fs::read_dir(&target).expect("it is there").count();
    assert_eq!(left, 0);
}

#[test]
fn a_file_in_place_of_the_fleet_directory_is_reported_and_not_changed() {
    let fixture = Fixture::new();
    fixture.write(".harness", "mine\n");

    for ended in [fixture.harness(&["status"]), fixture.run(&[]).end()] {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let expected = ".harness\" is a file, not the folder of fleets";
        assert!(ended.stderr.contains(expected), "{ended:?}");
        assert!(ended.stderr.contains("move it away"), "{ended:?}");
    }
    assert_eq!(fixture.read(".harness"), "mine\n");
    fs::remove_file(fixture.project().join(".harness")).expect("it is there");
    symlink("gone", fixture.project().join(".harness")).expect("writable");
    let run = fixture.run(&[]).end();
    let expected = ".harness\" is a symlink, not the folder of fleets";
    assert!(run.stderr.contains(expected), "{run:?}");
}

#[test]
fn members_without_a_fleet_are_reported() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));
    for file in ["meta_state.db-wal", "meta_state.db-shm"] {
        // These files may disappear with the last process that had the database open.
        let _ = fs::remove_file(fixture.project().join(".harness").join(file));
    }
    fixture.write(".harness/meta_state.db", "");

    for arguments in [vec!["status"], vec!["status", "--json"], vec!["logs"]] {
        let ended = fixture.harness(&arguments);

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("roadmap.parser"), "{ended:?}");
        assert!(ended.stderr.contains("meta_state.db"), "{ended:?}");
    }
}

#[test]
fn a_run_does_not_adopt_members_without_a_fleet() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));
    let remove = || {
        for file in ["meta_state.db", "meta_state.db-wal", "meta_state.db-shm"] {
            // These files may disappear with the last process that had the database open.
            let _ = fs::remove_file(fixture.project().join(".harness").join(file));
        }
    };
    let roadmap = fixture.read("ROADMAP.md").replace("Read sums.", "Write z.");
    fixture.write("ROADMAP.md", &roadmap);
    fixture.git(&["commit", "-qam", "Another task"]);

    for is_empty in [false, true] {
        for name in ["roadmap", "other"] {
            remove();
            if is_empty {
                fixture.write(".harness/meta_state.db", "");
            }
            let refused = fixture.run(&["--backend", &agents, "--name", name]).end();

            assert_eq!(refused.code, Some(1), "{refused:?}");
            let expected = "has folders of members without a fleet: roadmap.docs";
            assert!(refused.stderr.contains(expected), "{refused:?}");
            assert!(refused.stderr.contains("meta_state.db"), "{refused:?}");
        }
    }
}

#[test]
fn a_lost_record_of_one_fleet_does_not_concern_the_others() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));
    for member in ["lost.parser", "other.parser"] {
        fixture.write(&format!(".harness/{member}/order.json"), "{}");
    }

    let refused = fixture.run(&["--backend", &agents, "--name", "lost"]).end();

    assert_eq!(refused.code, Some(1), "{refused:?}");
    let expected = "has folders of members without a fleet: lost.parser\n";
    assert!(refused.stderr.contains(expected), "{refused:?}");
    assert!(refused.stderr.contains("--name"), "{refused:?}");
    // The folder of all fleets has the records of the others.
    assert!(refused.stderr.contains("move these folders"), "{refused:?}");
    let status = fixture.harness(&["status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    let again = fixture.run(&["--backend", &agents]).end();
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn a_damaged_record_of_a_fleet_does_not_concern_the_others() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));
    let database = Connection::open(fixture.project().join(".harness/meta_state.db"));
    let damage = "UPDATE fleets SET result = 'damaged'";
    let damaged = database.expect("it opens").execute(damage, []);
    assert_eq!(damaged.expect("writable"), 1);

    let own = fixture.run(&["--backend", &agents]).end();
    let other = fixture
        .run(&["--backend", &agents, "--name", "other"])
        .end();
    let status = fixture.harness(&["status", "other"]);

    assert_eq!(own.code, Some(1), "{own:?}");
    assert!(own.stderr.contains("meta_state.db"), "{own:?}");
    assert!(other.stdout.starts_with("Fleet other "), "{other:?}");
    assert_eq!(status.code, Some(0), "{status:?}");
}

#[test]
fn a_fleet_without_a_repository_requires_no_worktrees() {
    let fixture = Fixture::without_repository();
    let agents = fixture.usual_agents(&[]);

    let refused = fixture.run(&["--backend", &agents]).end();

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--no-worktrees"), "{refused:?}");
    assert!(!fixture.has("docs.md"));
    let shared = fixture.run(&["--backend", &agents, "--no-worktrees"]).end();
    assert_eq!(shared.code, Some(0), "{shared:?}");
    assert!(fixture.has("src/shell.txt"));
    fixture.git(&["init", "-q", "-b", "main"]);
    let left = fixture.git(&["status", "--porcelain", ".autonoe", ".harness"]);
    assert_eq!(left, "", "nothing of ours is to be committed");
}

#[test]
fn a_member_with_another_name_than_its_task_is_reported() {
    let fixture = Fixture::new();
    let tasks = "- [ ] **../x**: One.\n- [ ] **plain**: Two.\n";
    fixture.write(
        "ROADMAP.md",
        &format!("## Objective\nX.\n## Tasks\n{tasks}"),
    );
    fixture.git(&["commit", "-qam", "A roadmap"]);
    let session =
        |name: &str| crate::harness::fixture::session(name, [crate::harness::fixture::ends()]);
    let agents = fixture.agents("agents", &[session("../x"), session("plain")]);

    let ended = fixture.run(&["--backend", &agents]).end();

    assert!(
        ended
            .stderr
            .contains("the task \"../x\" is done by the member x"),
        "{ended:?}"
    );
    assert_eq!(
        ended.stderr.matches("is done by the member").count(),
        1,
        "{ended:?}"
    );
    // Tasks without dependencies do not change the strategy.
    let status = fixture.harness(&["status"]);
    assert!(status.stdout.starts_with("roadmap (graph)"), "{status:?}");
}

#[test]
fn a_repository_that_cannot_be_merged_into_is_refused_and_no_order_is_saved() {
    let fixture = Fixture::without_repository();
    let agents = fixture.usual_agents(&[]);
    fixture.git(&["init", "-q", "-b", "main"]);

    let empty = fixture.run(&["--backend", &agents]).end();
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "The roadmap"]);
    fixture.git(&["checkout", "-q", "--detach"]);
    let detached = fixture.run(&["--backend", &agents]).end();

    for (ended, expected, hint) in [
        (
            &empty,
            "no branch \"main\", or the branch has no commit",
            "hint: commit",
        ),
        (
            &detached,
            "no branch is checked out",
            "hint: use `git switch`",
        ),
    ] {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
        assert!(ended.stderr.contains(hint), "{ended:?}");
        assert!(!ended.stderr.contains("started"), "{ended:?}");
    }
    assert!(!fixture.has(".harness/meta_state.db"));
    fixture.git(&["switch", "-q", "main"]);
    let ended = fixture.run(&["--backend", &agents]).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn wrong_usage_is_reported_before_the_start() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    for (options, expected) in [
        (
            &["--strategy", "swarm"][..],
            "expected one of graph, parallel",
        ),
        (
            &["--strategy", "voting:loudest"],
            "expected voting:RANKING with one of first",
        ),
        (
            &["--strategy", "race", "--backend", &agents],
            "a race needs 2 candidates",
        ),
        (
            &["--strategy", "parallel", "--backend", &agents],
            "depends on another task",
        ),
        (&["--backend", "nobody"], "unknown backend"),
        (&["--name", "a.b", "--backend", &agents], "a.b"),
        (
            &["--backend", &agents, "--notify", "http://example.com/x"],
            "cannot deliver to the webhook",
        ),
        (
            &[
                "--backend",
                &agents,
                "--notify",
                "http://127.0.0.1:9/",
                "--notify-key",
                "ops",
            ],
            "set the environment variable AUTONOE_SIGNING_KEY_OPS",
        ),
        (&["--max-cost", "0"], "the budget must be more than 0"),
    ] {
        let ended = fixture.run(options).end();

        assert!(matches!(ended.code, Some(1 | 2)), "{options:?} {ended:?}");
        assert!(ended.stderr.contains(expected), "{options:?} {ended:?}");
        assert!(!fixture.has(".harness/meta_state.db"), "{options:?}");
    }
    for name in ["../x", ""] {
        let refused = fixture.run(&["--name", name, "--backend", &agents]).end();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        let expected = format!("error: {name:?} cannot be the name of a fleet");
        assert_eq!(refused.stderr.matches(&expected).count(), 1, "{refused:?}");
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    }
    let missing = fixture.harness(&["run", "PLAN.md"]);
    assert!(
        missing
            .stderr
            .contains("the roadmap PLAN.md does not exist"),
        "{missing:?}"
    );
}

#[test]
fn unknown_names_are_reported_with_the_known_ones() {
    let fixture = Fixture::new();
    for command in [&["status", "x"][..], &["pause"], &["logs"], &["serve"]] {
        let ended = fixture.harness(command);
        assert!(matches!(ended.code, Some(1 | 2)), "{command:?} {ended:?}");
        assert!(
            ended.stderr.contains("autonoe harness run ROADMAP"),
            "{ended:?}"
        );
    }
    assert!(!fixture.has(".harness"), "to look makes no files");
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));

    for (command, expected) in [
        (&["status", "nobody"][..], "fleets of this project: roadmap"),
        (&["logs", "nobody"], "its members are parser, shell, docs"),
        (
            &["send", "nobody", "hello"],
            "its members are parser, shell, docs",
        ),
        (&["send", "parser", " "], "the message is empty"),
        (&["pause", "-f", "other"], "fleets of this project: roadmap"),
        (&["stop"], "the fleet roadmap has ended"),
        (&["kill", "parser"], "the fleet roadmap has ended"),
    ] {
        let ended = fixture.harness(command);

        assert!(matches!(ended.code, Some(1 | 2)), "{command:?} {ended:?}");
        assert!(ended.stderr.contains(expected), "{command:?} {ended:?}");
    }
}

#[test]
fn another_roadmap_under_the_name_of_a_fleet_is_refused() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));
    let roadmap = fixture
        .read("ROADMAP.md")
        .replace("Read sums.", "Read products.");
    fixture.write("ROADMAP.md", &roadmap);

    let refused = fixture.run(&["--backend", &agents]).end();

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("a fleet roadmap with another order already exists"),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("--name"), "{refused:?}");
}

#[test]
fn uncommitted_changes_are_reported_at_the_start_and_kept_work_with_the_command_that_merges_it() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    fixture.write("docs.md", "mine\n");

    let first = fixture.run(&["--backend", &agents]).end();
    fs::remove_file(fixture.project().join("docs.md")).expect("it is there");
    let second = fixture.run(&["--backend", &agents]).end();

    let warning = "warning: the project has uncommitted changes (docs.md)";
    assert!(first.stderr.contains(warning), "{first:?}");
    assert!(
        !second.stderr.contains("uncommitted changes ("),
        "{second:?}"
    );
    for ended in [first, second] {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let command = "`git merge autonoe/roadmap/docs`";
        assert!(ended.stdout.contains(command), "{ended:?}");
    }
    fixture.git(&["merge", "-q", "autonoe/roadmap/docs"]);
    assert_eq!(fixture.read("docs.md"), "docs\n");
}

#[test]
fn a_corrupt_file_is_reported_with_its_path_and_not_changed() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));

    for (file, command) in [
        (".harness/roadmap.parser/order.json", &["status"][..]),
        (".harness/meta_state.db", &["status"]),
        (
            ".harness/meta_state.db",
            &["run", "ROADMAP.md", "--backend", &agents],
        ),
    ] {
        let path = fixture.project().join(file);
        fs::write(&path, "this is something else\n").expect("writable");

        let ended = fixture.harness(command);

        assert_eq!(ended.code, Some(1), "{command:?} {ended:?}");
        assert!(ended.stderr.contains(file), "{command:?} {ended:?}");
        assert_eq!(fixture.read(file), "this is something else\n");
    }
}

#[test]
fn the_process_of_a_member_is_not_started_by_hand() {
    let fixture = Fixture::new();
    let help = fixture.harness(&["--help"]);
    assert!(!help.stdout.contains("\n  work"), "{help:?}");

    let ended = fixture.harness(&["work", ".harness/a.b"]);

    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("`autonoe harness run` starts this"),
        "{ended:?}"
    );
    assert!(!fixture.has(".harness"));
}
