//! Tests of the HTML of the report.

use std::fs;

use autonoe_core::{CostUsd, RunControl};
use autonoe_testkit::{ScriptedBackend, SessionScript};

use crate::report::sample::{Sample, create, deliverable, sets};

#[tokio::test(start_paused = true)]
async fn the_same_run_gives_the_same_page() {
    let (first, second) = (Sample::shop().await, Sample::shop().await);

    let page = first.page(&[]);

    assert_eq!(page, second.page(&[]));
    insta::assert_snapshot!(lines(&page));
}

/// Puts each tag on its own line, for comparison.
fn lines(page: &str) -> String {
    let style = page.find("<style>").expect("it has one")..page.find("</style>").expect("it ends");
    let page = [&page[..style.start], "<style>", &page[style.end..]].concat();
    let mut text = page.replace('\u{200b}', "");
    for tag in [
        "section",
        "div",
        "tr",
        "td",
        "th",
        "svg",
        "rect",
        "path",
        "h1",
        "h2",
        "p",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "meta",
        "link",
        "title",
        "body",
        "header",
        "main",
        "footer",
        "figure",
        "figcaption",
        "style",
        "head",
        "html",
        "line",
        "span class=\"lane-name\"",
    ] {
        text = text.replace(&format!("<{tag}>"), &format!("\n<{tag}>"));
        text = text.replace(&format!("<{tag} "), &format!("\n<{tag} "));
    }
    text
}

#[tokio::test(start_paused = true)]
async fn foreign_text_stays_text() {
    let sample = Sample::new();
    let evil = "<script>alert(1)</script> \"quoted\" 'single' & \u{1b}[2J \u{202e}gpj.exe </title></style>";
    let script = create(&[deliverable("DL-<b>1</b>", evil)])
        .is_denied_by(
            "bash-security",
            "Bash",
            serde_json::json!({"command": "curl '<img src=x onerror=alert(1)>'"}),
        )
        .ends();
    sample
        .run(vec![
            script,
            sets(SessionScript::new("passes"), "DL-<b>1</b>", "passed").ends(),
        ])
        .await;

    let page = sample.page(&[]);

    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot;"),
        "{page}"
    );
    assert!(
        page.contains("⟨U+001B⟩[2J ⟨U+202E⟩gpj.exe &lt;/title&gt;"),
        "{page}"
    );
    assert!(page.contains("DL-&lt;b&gt;1&lt;/b&gt;"), "{page}");
    for never in ["<script", "<img", "<b>", "\u{1b}", "\u{202e}"] {
        assert!(!page.contains(never), "{never:?}");
    }
    assert_eq!(
        page.matches("</title>").count() - page.matches("<title>").count(),
        0
    );
    assert_eq!(page.matches("</style>").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_page_loads_nothing_from_other_origins() {
    let page = Sample::shop().await.page(&[]);

    for reference in [
        "src=",
        "href=\"http",
        "url(",
        "@import",
        "<script",
        "javascript:",
    ] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_did_nothing_has_a_page_too() {
    let sample = Sample::new();
    let state = r#"{"deliverables": [{"id": "A", "description": "done", "acceptanceCriteria": ["x"], "passed": true}]}"#;
    fs::create_dir(sample.path().join(".autonoe")).expect("it can be made");
    fs::write(sample.path().join(".autonoe/status.json"), state).expect("it can be written");
    let report = sample.run(Vec::new()).await;
    assert_eq!(report.sessions, 0);

    let page = sample.page(&[]);

    assert!(page.contains("No session was started."), "{page}");
    assert!(page.contains("No call was denied."), "{page}");
    assert!(page.contains("1 of 1"), "{page}");
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

/// A run that never ends: the second session hangs.
fn never_ends() -> Vec<SessionScript> {
    vec![
        create(&[deliverable("DL-001", "A thing")])
            .costs(CostUsd::from_cents(10))
            .ends(),
        SessionScript::new("hangs").says("working").hangs(),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_killed_run_is_labelled_as_unfinished() {
    let sample = Sample::new();
    let control = RunControl::new();
    let run = sample.project_run(ScriptedBackend::new(never_ends()).unverified(), 7);
    let minute = std::time::Duration::from_secs(60);
    assert!(
        tokio::time::timeout(minute, run.run(&control))
            .await
            .is_err()
    );

    let page = sample.page(&[]);

    assert!(page.contains("Unfinished"), "{page}");
    assert!(page.contains("It was killed in session 2"), "{page}");
    assert!(page.contains("Lost because its process ended"), "{page}");
    assert!(!page.contains("In progress"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn a_run_in_progress_is_labelled_as_in_progress() {
    let sample = Sample::new();
    let control = RunControl::new();
    let run = sample.project_run(ScriptedBackend::new(never_ends()).unverified(), 7);
    let running = run.run(&control);
    tokio::pin!(running);
    let minute = std::time::Duration::from_secs(60);
    assert!(tokio::time::timeout(minute, &mut running).await.is_err());

    // The future still exists, and holds the lock.
    let page = sample.page(&[]);

    assert!(page.contains("In progress"), "{page}");
    assert!(page.contains("so far"), "{page}");
    assert!(!page.contains("roke off"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_cannot_be_read_does_not_hide_the_run() {
    let sample = Sample::shop().await;
    fs::write(sample.path().join(".autonoe/status.json"), "{").expect("it can be written");

    let page = sample.page(&[]);

    assert!(page.contains("The ledger could not be read"), "{page}");
    assert!(page.contains("Customers sign up"), "{page}");
}
