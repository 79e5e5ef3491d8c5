//! The command around the page.

use std::fs;
use std::os::unix::fs::symlink;

use autonoe_core::RunControl;
use autonoe_testkit::{ScriptedAgents, SessionScript};

use crate::report::sample::{Sample, create, deliverable, sets};

/// Runs twice: the first one plans and stops, the second one finishes.
async fn two_runs() -> (Sample, Vec<String>) {
    let sample = Sample::new();
    let plans = create(&[deliverable("DL-001", "The first thing")]).ends();
    let passes = sets(SessionScript::new("passes"), "DL-001", "passed").ends();
    for (seed, script) in [(1, plans), (2, passes)] {
        sample
            .project_run(ScriptedAgents::new([script]), seed)
            .configure(|runner| runner.max_iterations(1))
            .run(&RunControl::new())
            .await
            .expect("it starts");
    }
    let journal = autonoe_core::Journal::read(&sample.project().journal_path()).expect("readable");
    let runs = journal
        .stories()
        .iter()
        .map(|story| story.run.to_string())
        .collect();
    (sample, runs)
}

#[tokio::test(start_paused = true)]
async fn the_newest_run_is_shown_unless_another_is_named() {
    let (sample, runs) = two_runs().await;

    let (newest, older) = (sample.page(&[]), sample.page(&["--run", &runs[0]]));

    assert!(
        newest.contains(&runs[1]) && newest.contains("1 of 1"),
        "{newest}"
    );
    assert!(
        older.contains(&runs[0]) && older.contains("0 of 1"),
        "{older}"
    );
    assert!(
        older.contains("Later runs have changed the ledger since"),
        "{older}"
    );
    assert!(older.contains("The first thing"), "{older}");
}

#[tokio::test(start_paused = true)]
async fn changes_of_the_ledger_from_outside_are_on_the_page() {
    let sample = Sample::new();
    let ledger = sample.project().status_path();
    let forges = move |_: &std::path::Path| fs::write(&ledger, "{}").expect("writable");
    let passes = sets(
        SessionScript::new("passes").does(forges),
        "DL-001",
        "passed",
    );
    let agents = ScriptedAgents::new([
        create(&[deliverable("DL-001", "The first thing")]).ends(),
        passes.ends(),
    ]);
    sample
        .project_run(agents, 1)
        .run(&RunControl::new())
        .await
        .expect("it starts");
    let before = sample.page(&[]);
    let ledger = sample.project().status_path();
    let text = fs::read_to_string(&ledger).expect("readable");
    fs::write(&ledger, text.replace("The first thing", "Another one")).expect("writable");
    sample
        .project_run(ScriptedAgents::new([]), 2)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let after = sample.page(&[]);

    let restored = "Something other than the run changed the ledger; it was restored, and the \
                    foreign content is kept as status.foreign-1.json";
    let edited =
        "The ledger was edited outside: something other than a run changed it since the last run";
    assert!(
        before.contains(restored) && !before.contains(edited),
        "{before}"
    );
    assert!(
        after.contains(edited) && !after.contains(restored),
        "{after}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_beginning_of_an_id_is_enough_if_it_is_the_only_one() {
    let (sample, runs) = two_runs().await;
    let common = runs[0]
        .chars()
        .zip(runs[1].chars())
        .take_while(|(a, b)| a == b)
        .count();

    let page = sample.page(&["--run", &runs[0][..=common]]);

    assert!(page.contains(&runs[0]), "{page}");
    if common > 0 {
        let output = sample.report(&["--run", &runs[0][..common]]);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_there_is_told_with_the_newest() {
    let (sample, runs) = two_runs().await;

    for (wrong, words) in [
        ("nothing-like-it", "tells of no run `nothing-like-it`"),
        ("", "--run is blank"),
    ] {
        let output = sample.report(&["--run", wrong]);

        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words) && said.contains(&runs[1]), "{said}");
    }
}

#[test]
fn a_project_without_runs_is_told_what_to_do() {
    let sample = Sample::new();

    let output = sample.report(&[]);

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        said,
        "error: there has been no run in this project\n  hint: `autonoe run` starts one\n"
    );
    assert!(!sample.path().join("autonoe-report.html").exists());
    assert!(
        !sample.path().join(".autonoe").exists(),
        "looking leaves no trace"
    );
}

#[tokio::test(start_paused = true)]
async fn the_page_goes_where_it_is_wanted() {
    let sample = Sample::of_a_shop().await;
    let printed = sample.page(&[]);

    let path = sample.page_file();
    let output = sample.report(&["--output", "elsewhere.html"]);

    assert_eq!(
        path,
        sample
            .path()
            .canonicalize()
            .expect("it is there")
            .join("autonoe-report.html")
    );
    assert!(output.status.success());
    for name in ["autonoe-report.html", "elsewhere.html"] {
        assert_eq!(
            fs::read_to_string(sample.path().join(name)).expect("it is there"),
            printed
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_place_that_cannot_be_written_is_told() {
    let sample = Sample::of_a_shop().await;

    let output = sample.report(&["-o", "no/such/folder.html"]);

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("folder.html cannot be written"), "{said}");
    assert!(said.contains("--output -"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_symlink_is_not_followed() {
    let sample = Sample::of_a_shop().await;
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mine = elsewhere.path().join("mine");
    fs::write(&mine, "mine").expect("writable");
    for (name, target, output) in [
        ("autonoe-report.html", &*mine, "autonoe-report.html"),
        (
            "nowhere.html",
            &elsewhere.path().join("new"),
            "nowhere.html",
        ),
        ("docs", elsewhere.path(), "docs/report.html"),
    ] {
        symlink(target, sample.path().join(name)).expect("writable");

        let ended = sample.report(&["--output", output]);

        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains("symlink") && said.contains(name), "{said}");
    }

    assert!(!sample.report(&[]).status.success());
    assert_eq!(fs::read(&mine).expect("it is there"), b"mine");
    let left = fs::read_dir(elsewhere.path()).expect("it is there").count();
    assert_eq!(left, 1);
}

#[tokio::test(start_paused = true)]
async fn another_name_of_a_file_keeps_what_it_holds() {
    let sample = Sample::of_a_shop().await;
    let (mine, page) = (
        sample.path().join("mine"),
        sample.path().join("autonoe-report.html"),
    );
    fs::write(&mine, "mine").expect("writable");
    fs::hard_link(&mine, &page).expect("writable");

    sample.page_file();

    assert_eq!(fs::read(&mine).expect("it is there"), b"mine");
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_cannot_be_understood_is_told_by_its_line() {
    let sample = Sample::of_a_shop().await;
    let journal = sample.project().journal_path();
    let text = fs::read_to_string(&journal).expect("readable");
    fs::write(&journal, format!("nonsense\n{text}")).expect("writable");

    let output = sample.report(&["-o", "-"]);

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("line 1 of the journal"), "{said}");
    assert_eq!(output.stdout, b"");
}
