//! Bad inputs: told with their place, and nothing is begun or destroyed.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::setting::Setting;

#[test]
fn every_mistake_of_a_roadmap_is_told_with_its_line() {
    let setting = Setting::new();
    setting.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **a**: One.\n  - depends: nobody\n- [ ] **a**: Two.\n",
    );

    let ended = setting.run(&[]).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("ROADMAP.md:4:1: a depends on nobody"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("ROADMAP.md:6:1: the task a"),
        "{ended:?}"
    );
    assert!(!setting.has(".harness"));
}

#[test]
fn a_check_that_cannot_be_run_is_told_before_anything_begins() {
    let setting = Setting::new();
    let roadmap = |command: &str| {
        let task = format!("- [ ] **a**: One.\n  - success: `{command}`\n");
        setting.write("ROADMAP.md", &format!("## Objective\nX.\n## Tasks\n{task}"));
        setting.git(&["commit", "-qam", "A roadmap"]);
    };

    for (command, told) in [
        ("if true", "ROADMAP.md:5:14: no shell runs the command"),
        (
            "/opt/missing --all",
            "ROADMAP.md:4: the task a is checked by \"/opt/missing\", and there",
        ),
    ] {
        roadmap(command);
        let refused = setting.run(&[]).end();

        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(told), "{refused:?}");
        assert!(!setting.has(".harness"), "{command}");
    }
    roadmap("made-by-an-agent");
    let agents = setting.agents(
        "agents",
        &[crate::harness::setting::session(
            "a",
            [crate::harness::setting::ends()],
        )],
    );
    let odd = setting
        .run(&["--backend", &agents, "--max-iterations", "1"])
        .end();
    let told =
        "ROADMAP.md:4: the task a is checked by \"made-by-an-agent\", which is not on PATH now";
    assert!(odd.stderr.contains(told), "{odd:?}");
}

#[test]
fn a_backend_that_a_task_names_and_nobody_knows_is_told_with_its_line() {
    let setting = Setting::new();
    setting.write(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **a**: One.\n  - cli: nobody\n",
    );

    let ended = setting.run(&[]).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = "ROADMAP.md:4: the task a names the backend \"nobody\"";
    assert!(ended.stderr.contains(told), "{ended:?}");
    assert!(
        ended.stderr.contains("--backend nobody=BACKEND"),
        "{ended:?}"
    );
}

#[test]
fn a_symlink_in_the_place_of_all_fleets_is_refused_and_not_followed() {
    let setting = Setting::new();
    let elsewhere = setting.beside("elsewhere");
    fs::create_dir(&elsewhere).expect("writable");
    symlink(&elsewhere, setting.project().join(".harness")).expect("writable");

    let agents = setting.agents(
        "agents",
        &[crate::harness::setting::session(
            "a",
            [crate::harness::setting::ends()],
        )],
    );
    let run = setting.run(&["--backend", &agents]).end();

    for refused in [run, setting.harness(&["status"])] {
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(".harness"), "{refused:?}");
        assert!(refused.stderr.contains("a symlink"), "{refused:?}");
    }

    let left = fs::read_dir(&elsewhere).expect("it is there").count();
    assert_eq!(left, 0);
}

#[test]
fn a_file_in_the_place_of_all_fleets_is_named_and_kept() {
    let setting = Setting::new();
    setting.write(".harness", "mine\n");

    let status = setting.harness(&["status"]);

    assert_eq!(status.code, Some(1), "{status:?}");
    let told = ".harness\" is a file, not the folder of fleets";
    assert!(status.stderr.contains(told), "{status:?}");
    assert_eq!(setting.read(".harness"), "mine\n");
}

#[test]
fn members_without_a_fleet_are_told_of() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[]);
    assert_eq!(setting.run(&["--backend", &agents]).end().code, Some(0));
    for file in ["meta_state.db-wal", "meta_state.db-shm"] {
        // They may be gone with the last who had it open.
        let _ = fs::remove_file(setting.project().join(".harness").join(file));
    }
    setting.write(".harness/meta_state.db", "");

    for arguments in [vec!["status"], vec!["status", "--json"], vec!["logs"]] {
        let ended = setting.harness(&arguments);

        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("roadmap.parser"), "{ended:?}");
        assert!(ended.stderr.contains("meta_state.db"), "{ended:?}");
    }
}

#[test]
fn without_a_repository_members_are_isolated_or_nothing_begins() {
    let setting = Setting::without_repository();
    let agents = setting.usual_agents(&[]);

    let refused = setting.run(&["--backend", &agents]).end();

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--no-worktrees"), "{refused:?}");
    assert!(!setting.has("docs.md"));
    let shared = setting.run(&["--backend", &agents, "--no-worktrees"]).end();
    assert_eq!(shared.code, Some(0), "{shared:?}");
    assert!(setting.has("src/shell.txt"));
    setting.git(&["init", "-q", "-b", "main"]);
    let left = setting.git(&["status", "--porcelain", ".autonoe", ".harness"]);
    assert_eq!(left, "", "nothing of ours is to be committed");
}

#[test]
fn a_member_whose_name_is_not_that_of_its_task_is_told() {
    let setting = Setting::new();
    let tasks = "- [ ] **../x**: One.\n- [ ] **plain**: Two.\n";
    setting.write(
        "ROADMAP.md",
        &format!("## Objective\nX.\n## Tasks\n{tasks}"),
    );
    setting.git(&["commit", "-qam", "A roadmap"]);
    let session =
        |name: &str| crate::harness::setting::session(name, [crate::harness::setting::ends()]);
    let agents = setting.agents("agents", &[session("../x"), session("plain")]);

    let ended = setting.run(&["--backend", &agents]).end();

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
    // Tasks without dependencies do not make it another strategy than was asked for.
    let status = setting.harness(&["status"]);
    assert!(status.stdout.starts_with("roadmap (graph)"), "{status:?}");
}

#[test]
fn a_repository_that_nothing_can_be_merged_into_is_refused_and_no_order_is_kept() {
    let setting = Setting::without_repository();
    let agents = setting.usual_agents(&[]);
    setting.git(&["init", "-q", "-b", "main"]);

    let empty = setting.run(&["--backend", &agents]).end();
    setting.git(&["add", "."]);
    setting.git(&["commit", "-q", "-m", "The roadmap"]);
    setting.git(&["checkout", "-q", "--detach"]);
    let detached = setting.run(&["--backend", &agents]).end();

    for (ended, told, hint) in [
        (&empty, "no branch \"main\" with a commit", "hint: commit"),
        (&detached, "is on no branch", "hint: `git switch`"),
    ] {
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
        assert!(ended.stderr.contains(hint), "{ended:?}");
        assert!(!ended.stderr.contains("started"), "{ended:?}");
    }
    assert!(!setting.has(".harness/meta_state.db"));
    setting.git(&["switch", "-q", "main"]);
    let ended = setting.run(&["--backend", &agents]).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn wrong_usage_is_told_before_anything_begins() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[]);
    for (options, told) in [
        (&["--strategy", "swarm"][..], "it is one of graph, parallel"),
        (&["--strategy", "voting:loudest"], "a vote goes by first"),
        (
            &["--strategy", "race", "--backend", &agents],
            "a race needs 2 contenders",
        ),
        (
            &["--strategy", "parallel", "--backend", &agents],
            "depends on another one",
        ),
        (&["--backend", "nobody"], "there is no such backend"),
        (&["--name", "a.b", "--backend", &agents], "a.b"),
        (
            &["--backend", &agents, "--webhook", "http://example.com/x"],
            "the webhook cannot be told",
        ),
        (
            &[
                "--backend",
                &agents,
                "--webhook",
                "http://127.0.0.1:9/",
                "--webhook-key",
                "ops",
            ],
            "set AUTONOE_SIGNING_KEY_OPS",
        ),
        (&["--max-cost", "0"], "a budget of nothing"),
    ] {
        let ended = setting.run(options).end();

        assert!(matches!(ended.code, Some(1 | 2)), "{options:?} {ended:?}");
        assert!(ended.stderr.contains(told), "{options:?} {ended:?}");
        assert!(!setting.has(".harness/meta_state.db"), "{options:?}");
    }
    let missing = setting.harness(&["run", "PLAN.md"]);
    assert!(
        missing.stderr.contains("there is no roadmap PLAN.md"),
        "{missing:?}"
    );
}

#[test]
fn who_is_not_known_is_told_with_those_who_are() {
    let setting = Setting::new();
    for command in [&["status", "x"][..], &["pause"], &["logs"], &["serve"]] {
        let ended = setting.harness(command);
        assert!(matches!(ended.code, Some(1 | 2)), "{command:?} {ended:?}");
        assert!(
            ended.stderr.contains("autonoe harness run ROADMAP"),
            "{ended:?}"
        );
    }
    assert!(!setting.has(".harness"), "to look makes no files");
    let agents = setting.usual_agents(&[]);
    assert_eq!(setting.run(&["--backend", &agents]).end().code, Some(0));

    for (command, told) in [
        (&["status", "nobody"][..], "this project has roadmap"),
        (&["logs", "nobody"], "it has parser, shell, docs"),
        (&["send", "nobody", "hello"], "it has parser, shell, docs"),
        (&["send", "parser", " "], "there is nothing to tell"),
        (&["pause", "-f", "other"], "this project has roadmap"),
        (&["stop"], "the fleet roadmap has ended"),
        (&["kill", "parser"], "the fleet roadmap has ended"),
    ] {
        let ended = setting.harness(command);

        assert!(matches!(ended.code, Some(1 | 2)), "{command:?} {ended:?}");
        assert!(ended.stderr.contains(told), "{command:?} {ended:?}");
    }
}

#[test]
fn another_roadmap_under_the_name_of_a_fleet_is_refused() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[]);
    assert_eq!(setting.run(&["--backend", &agents]).end().code, Some(0));
    let roadmap = setting
        .read("ROADMAP.md")
        .replace("Read sums.", "Read products.");
    setting.write("ROADMAP.md", &roadmap);

    let refused = setting.run(&["--backend", &agents]).end();

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("there is a fleet roadmap already"),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("--name"), "{refused:?}");
}

#[test]
fn what_is_corrupt_is_told_with_its_path_and_kept() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[]);
    assert_eq!(setting.run(&["--backend", &agents]).end().code, Some(0));

    for (file, command) in [
        (".harness/roadmap.parser/order.json", &["status"][..]),
        (".harness/meta_state.db", &["status"]),
        (
            ".harness/meta_state.db",
            &["run", "ROADMAP.md", "--backend", &agents],
        ),
    ] {
        let path = setting.project().join(file);
        fs::write(&path, "this is something else\n").expect("writable");

        let ended = setting.harness(command);

        assert_eq!(ended.code, Some(1), "{command:?} {ended:?}");
        assert!(ended.stderr.contains(file), "{command:?} {ended:?}");
        assert_eq!(setting.read(file), "this is something else\n");
    }
}

#[test]
fn the_process_of_a_sub_harness_is_not_for_people() {
    let setting = Setting::new();
    let help = setting.harness(&["--help"]);
    assert!(!help.stdout.contains("\n  work"), "{help:?}");

    let ended = setting.harness(&["work", ".harness/a.b"]);

    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("`autonoe harness run` starts this"),
        "{ended:?}"
    );
    assert!(!setting.has(".harness"));
}
