//! Tests of Glob and Grep.

use std::fs::{File, FileTimes};
use std::process::Command;
use std::time::{Duration, SystemTime};

use autonoe_core::tool::ToolErrorCode;
use autonoe_model::tools::ToolLimits;
use serde_json::json;

use crate::tools::fixture::Fixture;

fn aged(fixture: &Fixture, name: &str, seconds: u64) {
    let path = fixture.file(name, format!("needle in {name}\n"));
    let file = File::options().append(true).open(path).expect("ours");
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - seconds);
    file.set_times(FileTimes::new().set_modified(at))
        .expect("ours");
}

#[tokio::test]
async fn files_are_listed_newest_first_without_ignored_ones() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "target/\n*.log\n!keep.log\n");
    fixture.file("src/.gitignore", "/generated.rs\n");
    for (name, age) in [
        ("src/old.rs", 30),
        ("new.rs", 10),
        ("src/deep/mid.rs", 20),
        ("src/same-b.rs", 40),
        ("src/same-a.rs", 40),
        ("target/debug/x.rs", 1),
        ("src/generated.rs", 1),
        (".git/hooks/x.rs", 1),
        (".github/a.rs", 50),
        ("a.log", 1),
        ("keep.log", 1),
    ] {
        aged(&fixture, name, age);
    }
    fixture.link("linked.rs", "new.rs");

    let rust = fixture.ok("Glob", json!({"pattern": "**/*.rs"})).await;
    let logs = fixture.ok("Glob", json!({"pattern": "*.log"})).await;
    let below = fixture
        .ok("Glob", json!({"pattern": "*.rs", "path": "src/deep"}))
        .await;
    let absolute = format!("{}/src/*.rs", fixture.root().display());
    let direct = fixture.ok("Glob", json!({"pattern": absolute})).await;
    let nothing = fixture.ok("Glob", json!({"pattern": "*.c"})).await;

    assert_eq!(
        rust,
        "new.rs\nsrc/deep/mid.rs\nsrc/old.rs\nsrc/same-a.rs\nsrc/same-b.rs\n.github/a.rs\n"
    );
    assert_eq!(logs, "keep.log\n");
    assert_eq!(below, "src/deep/mid.rs\n");
    assert_eq!(direct, "src/old.rs\nsrc/same-a.rs\nsrc/same-b.rs\n");
    assert_eq!(nothing, "[no files found]\n");
}

#[tokio::test]
async fn rules_of_directories_above_hold_in_a_search_below() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "*.tmp\n");
    fixture.file(".git/info/exclude", "secret-*\n");
    fixture.file("src/a.tmp", "");
    fixture.file("src/a.txt", "");
    fixture.file("src/secret-a", "");

    let found = fixture
        .ok("Glob", json!({"pattern": "**", "path": "src"}))
        .await;

    assert_eq!(found, "src/a.txt\n");
}

#[tokio::test]
async fn truncated_results_are_marked() {
    let limits = ToolLimits {
        results: 3,
        ..ToolLimits::default()
    };
    let fixture = Fixture::with(|options| options.limits = limits);
    for number in 0..5 {
        aged(&fixture, &format!("f{number}"), number);
    }

    let found = fixture.ok("Glob", json!({"pattern": "f*"})).await;
    let listed = fixture.ok("Grep", json!({"pattern": "needle"})).await;

    assert_eq!(
        found,
        "f0\nf1\nf2\n[3 of 5 files, the newest; use a narrower pattern for others]\n"
    );
    assert_eq!(
        listed,
        "f0\nf1\nf2\n[more matches left out; narrow the search or set head_limit]\n"
    );
}

#[tokio::test]
async fn incomplete_search_is_reported_with_reason() {
    for (limits, reason) in [
        (
            ToolLimits {
                entries: 2,
                ..ToolLimits::default()
            },
            "after 2 files",
        ),
        (
            ToolLimits {
                search_time: Duration::ZERO,
                ..ToolLimits::default()
            },
            "too long",
        ),
    ] {
        let fixture = Fixture::with(|options| options.limits = limits);
        for number in 0..5 {
            fixture.file(&format!("f{number}"), "needle");
        }

        let found = fixture
            .call("Glob", json!({"pattern": "*"}))
            .await
            .expect("some");
        let matches = fixture.ok("Grep", json!({"pattern": "needle"})).await;

        assert!(found.output.contains("[not complete"), "{}", found.output);
        assert!(found.output.contains(reason), "{}", found.output);
        assert_eq!(found.metadata["truncated"], true);
        assert!(matches.contains(reason), "{matches}");
    }
}

#[tokio::test]
async fn lines_are_found_with_their_context() {
    let fixture = Fixture::new();
    fixture.file("a.txt", "one\nTwo needle\nthree\nfour\nfive\nneedle\n");
    fixture.file("b.rs", "fn needle() {}\n");
    fixture.file("c.bin", b"needle \0 needle\n");
    let grep = async |mut input: serde_json::Value| {
        input["output_mode"] = "content".into();
        fixture.ok("Grep", input).await
    };

    assert_eq!(
        grep(json!({"pattern": "needle"})).await,
        "a.txt:2:Two needle\na.txt:6:needle\nb.rs:1:fn needle() {}\n"
    );
    assert_eq!(
        grep(json!({"pattern": "two", "-i": true, "-A": 1, "-B": 1})).await,
        "a.txt-1-one\na.txt:2:Two needle\na.txt-3-three\n"
    );
    assert_eq!(
        grep(json!({"pattern": "needle", "glob": "*.rs", "-n": false})).await,
        "b.rs:fn needle() {}\n"
    );
    assert_eq!(
        grep(json!({"pattern": "needle", "type": "rust"})).await,
        "b.rs:1:fn needle() {}\n"
    );
    assert_eq!(
        grep(json!({"pattern": "three.four", "multiline": true})).await,
        "a.txt:3:three\na.txt:4:four\n"
    );
    assert_eq!(
        grep(json!({"pattern": "^needle$", "path": "a.txt"})).await,
        "a.txt:6:needle\n"
    );
    assert_eq!(grep(json!({"pattern": "absent"})).await, "[no matches]\n");
    assert_eq!(
        grep(json!({"pattern": "needle", "head_limit": 1})).await,
        "a.txt:2:Two needle\n[more matches left out; narrow the search or set head_limit]\n"
    );
}

#[tokio::test]
async fn files_and_counts_are_listed_on_request() {
    let fixture = Fixture::new();
    fixture.file("a", "x\nx\n");
    fixture.file("b", "x\n");
    fixture.file("c", "y\n");

    let files = fixture.ok("Grep", json!({"pattern": "x"})).await;
    let counts = fixture
        .ok("Grep", json!({"pattern": "x", "output_mode": "count"}))
        .await;

    assert_eq!(files, "a\nb\n");
    assert_eq!(counts, "a:2\nb:1\n");
}

#[tokio::test]
async fn invalid_patterns_are_refused() {
    let fixture = Fixture::new();
    for (tool, input) in [
        ("Grep", json!({"pattern": "("})),
        ("Grep", json!({"pattern": "a{1000}{1000}{1000}"})),
        ("Grep", json!({"pattern": "a", "type": "nonsense"})),
        ("Grep", json!({"pattern": "a", "output_mode": "poem"})),
        ("Glob", json!({"pattern": "{a"})),
        ("Glob", json!({"path": "src"})),
    ] {
        let code = fixture.refused(tool, input.clone()).await;
        assert_eq!(code, ToolErrorCode::VALIDATION_ERROR, "{input}");
    }
}

#[tokio::test]
async fn fifo_does_not_block_a_search() {
    let fixture = Fixture::new();
    fixture.file("src/a", "needle\n");
    for name in ["fifo", ".gitignore", "src/.ignore"] {
        let path = fixture.root().join(name);
        let status = Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("it starts");
        assert!(status.success());
    }

    let found = fixture.ok("Glob", json!({"pattern": "**"})).await;
    let matches = fixture.ok("Grep", json!({"pattern": "needle"})).await;
    let direct = fixture
        .refused("Grep", json!({"pattern": "x", "path": "fifo"}))
        .await;

    assert_eq!((found.as_str(), matches.as_str()), ("src/a\n", "src/a\n"));
    assert_eq!(direct, ToolErrorCode::VALIDATION_ERROR);
}

#[tokio::test]
async fn a_line_without_end_does_not_fill_the_memory() {
    let fixture = Fixture::new();
    fixture.file("long", "x".repeat(40_000_000));
    fixture.file("short", "needle\n");

    let found = fixture.ok("Grep", json!({"pattern": "needle"})).await;

    assert_eq!(
        found,
        "short\n[1 files could not be searched to their end]\n"
    );
}
