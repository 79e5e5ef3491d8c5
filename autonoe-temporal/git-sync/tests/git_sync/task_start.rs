//! Tests of the first commit of a task.

use autonoe_core::time::Epoch;

use crate::fixture::{Fixture, Host};

const SPECIFICATION: &str = "# Task parser\n\nRead sums.\n";

#[tokio::test]
async fn task_starts_with_its_specification_and_without_the_state_of_earlier_runs() {
    let fixture = Fixture::new();
    for file in [
        ".autonoe/status.json",
        ".autonoe/journal.jsonl",
        ".autonoe/agent.json",
        ".autonoe-note.md",
    ] {
        fixture.push_foreign_commit("main", file);
    }
    let host = |name: &str| Host::on(fixture.synced_project(name).for_task(SPECIFICATION));

    let (one, two) = (host("one"), host("two"));
    one.synced_project()
        .take_over(Epoch(1))
        .await
        .expect("it is taken over");
    two.synced_project()
        .take_over(Epoch(2))
        .await
        .expect("it is taken over");

    for host in [&one, &two] {
        let text = host.read("SPEC.md");
        assert!(text.starts_with(SPECIFICATION), "{text}");
        assert!(
            text.contains("## Background") && text.ends_with("# Shop\n"),
            "{text}"
        );
        assert_eq!(text.matches("# Task parser").count(), 1, "{text}");
        assert_eq!(host.read(".autonoe/agent.json"), "theirs\n");
        for file in [
            ".autonoe/status.json",
            ".autonoe/journal.jsonl",
            ".autonoe-note.md",
        ] {
            assert!(!host.file(file).exists(), "{file}");
        }
        // Agents begin with a clean work tree.
        let status = crate::fixture::git(&host.file(""), &["status", "--porcelain"]);
        assert_eq!(status, "");
    }
    let published = fixture.published("SPEC.md");
    assert!(published.starts_with("# Task parser"), "{published}");
    assert_eq!(fixture.on_remote(&["show", "main:SPEC.md"]), "# Shop");
}

#[tokio::test]
async fn task_start_is_repeated_after_a_lost_push() {
    let fixture = Fixture::new();
    let host = Host::on(fixture.synced_project("one").for_task(SPECIFICATION));
    host.synced_project()
        .checkout()
        .await
        .expect("the base is there");
    // As if a process was killed after it had replaced the file.
    host.write("SPEC.md", SPECIFICATION);

    host.synced_project()
        .take_over(Epoch(1))
        .await
        .expect("it is taken over");

    let text = host.read("SPEC.md");
    assert!(text.ends_with("# Shop\n"), "{text}");
    assert_eq!(text.matches("# Task parser").count(), 1, "{text}");
}
