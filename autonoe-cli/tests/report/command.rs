//! Tests of the `autonoe report` command: selection of the run, and the output file.

use std::fs;
use std::os::unix::fs::symlink;

use autonoe_core::RunControl;
use autonoe_testkit::{ScriptedBackend, SessionScript};

use crate::report::sample::{Sample, create, deliverable, sets};

/// Runs twice: the first run plans and stops, the second one finishes.
async fn two_runs() -> (Sample, Vec<String>) {
    let sample = Sample::new();
    let plans = create(&[deliverable("DL-001", "The first thing")]).ends();
    let passes = sets(SessionScript::new("passes"), "DL-001", "passed").ends();
    for (seed, script) in [(1, plans), (2, passes)] {
        sample
            .project_run(ScriptedBackend::new([script]), seed)
            .configure(|runner| runner.max_iterations(1))
            .run(&RunControl::new())
            .await
            .expect("it starts");
    }
    let journal =
        autonoe_core::project::Journal::read(&sample.project().journal_path()).expect("readable");
    let runs = journal
        .run_histories()
        .iter()
        .map(|history| history.run.to_string())
        .collect();
    (sample, runs)
}

#[tokio::test(start_paused = true)]
async fn the_report_is_about_the_newest_run_or_the_named_one() {
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
        older.contains("Later runs have changed the ledger"),
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
        SessionScript::new("passes").performs(forges),
        "DL-001",
        "passed",
    );
    let agents = ScriptedBackend::new([
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
        .project_run(ScriptedBackend::new([]), 2)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let after = sample.page(&[]);

    let restored = "Something other than the run changed the ledger; it was restored, and the \
                    foreign content is kept as status.foreign-1.json";
    let edited = "The ledger was edited between runs";
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
async fn an_unknown_run_is_reported_with_the_newest() {
    let (sample, runs) = two_runs().await;

    for (wrong, words) in [
        ("nothing-like-it", "has no run `nothing-like-it`"),
        ("", "--run is empty"),
    ] {
        let output = sample.report(&["--run", wrong]);

        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(words) && stderr.contains(&runs[1]),
            "{stderr}"
        );
    }
}

#[test]
fn a_project_without_runs_gets_a_hint() {
    let sample = Sample::new();

    let output = sample.report(&[]);

    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr,
        "error: this project has no runs\n  hint: start one with `autonoe run`\n"
    );
    assert!(!sample.path().join("autonoe-report.html").exists());
    assert!(
        !sample.path().join(".autonoe").exists(),
        "looking leaves no trace"
    );
}

#[tokio::test(start_paused = true)]
async fn report_is_written_to_the_output_path() {
    let sample = Sample::shop().await;
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
async fn a_read_only_place_is_reported() {
    let sample = Sample::shop().await;

    let output = sample.report(&["-o", "no/such/folder.html"]);

    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("folder.html cannot be written"), "{stderr}");
    assert!(stderr.contains("--output -"), "{stderr}");
}

#[tokio::test(start_paused = true)]
async fn a_symlink_is_not_followed() {
    let sample = Sample::shop().await;
    let folder = tempfile::tempdir().expect("a folder");
    let own_file = folder.path().join("mine");
    fs::write(&own_file, "mine").expect("writable");
    for (name, target, output) in [
        ("autonoe-report.html", &*own_file, "autonoe-report.html"),
        ("nowhere.html", &folder.path().join("new"), "nowhere.html"),
        ("docs", folder.path(), "docs/report.html"),
    ] {
        symlink(target, sample.path().join(name)).expect("writable");

        let ended = sample.report(&["--output", output]);

        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{name}: {stderr}");
        assert!(
            stderr.contains("symlink") && stderr.contains(name),
            "{stderr}"
        );
    }

    assert!(!sample.report(&[]).status.success());
    assert_eq!(fs::read(&own_file).expect("it is there"), b"mine");
    let left = fs::read_dir(folder.path()).expect("it is there").count();
    assert_eq!(left, 1);
}

#[tokio::test(start_paused = true)]
async fn a_hard_linked_output_file_keeps_the_content_of_its_other_name() {
    let sample = Sample::shop().await;
    let (own_file, page) = (
        sample.path().join("mine"),
        sample.path().join("autonoe-report.html"),
    );
    let earlier = format!("{}<!-- mine -->", sample.page(&[]));
    fs::write(&own_file, &earlier).expect("writable");
    fs::hard_link(&own_file, &page).expect("writable");

    sample.page_file();

    let content = fs::read_to_string(&own_file).expect("it is there");
    assert_eq!(content, earlier);
    assert!(
        !fs::read_to_string(&page)
            .expect("it is there")
            .contains("<!-- mine -->")
    );
}

#[tokio::test(start_paused = true)]
async fn only_an_earlier_page_is_replaced() {
    let sample = Sample::shop().await;
    fs::create_dir(sample.path().join(".git")).expect("writable");
    for (name, content) in [
        ("SPEC.md", None),
        (".git/config", Some("[core]\n")),
        (".git/new.html", None),
        ("greet.sh", Some("echo hello\n")),
        ("other.html", Some("<!DOCTYPE html><title>Mine</title>")),
    ] {
        let path = sample.path().join(name);
        if let Some(content) = content {
            fs::write(&path, content).expect("writable");
        }
        let before = fs::read(&path).ok();

        let output = sample.report(&["-o", name]);

        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert!(stderr.contains(name), "{stderr}");
        assert_eq!(fs::read(&path).ok(), before, "{name}");
    }
    fs::remove_file(sample.path().join("SPEC.md")).expect("it is there");
    assert_eq!(sample.report(&["-o", "SPEC.md"]).status.code(), Some(2));
    fs::write(sample.path().join("empty.html"), "").expect("writable");
    assert!(sample.report(&["-o", "empty.html"]).status.success());
}

#[tokio::test(start_paused = true)]
async fn an_invalid_journal_is_reported_with_its_line() {
    let sample = Sample::shop().await;
    let journal = sample.project().journal_path();
    let text = fs::read_to_string(&journal).expect("readable");
    fs::write(&journal, format!("nonsense\n{text}")).expect("writable");

    let output = sample.report(&["-o", "-"]);

    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("line 1 of the journal"), "{stderr}");
    assert_eq!(output.stdout, b"");
}
