//! Tests of Write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use autonoe_core::tool::ToolErrorCode;
use autonoe_model::tools::ToolLimits;
use serde_json::json;

use crate::tools::fixture::Fixture;

/// Returns the entries of a directory, including leftovers of a writer.
fn names(fixture: &Fixture, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(fixture.root().join(directory)).expect("there");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries.flatten().map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_new_file_is_created_with_its_directories() {
    let fixture = Fixture::new();

    let input = json!({"file_path": "new/deep/file.txt", "content": "hello\n"});
    let output = fixture.call("Write", input).await.expect("written");

    assert_eq!(fixture.text("new/deep/file.txt"), "hello\n");
    assert_eq!(output.metadata["created"], true);
    assert_eq!(names(&fixture, "new/deep"), ["file.txt"]);
}

#[tokio::test]
async fn a_file_keeps_its_permissions_and_leaves_its_other_names_alone() {
    let fixture = Fixture::new();
    let path = fixture.file("run.sh", "old");
    fs::set_permissions(&path, Permissions::from_mode(0o750)).expect("ours");
    fs::hard_link(&path, fixture.root().join("other")).expect("writable");
    let owner = fs::metadata(&path).expect("there").uid();

    fixture
        .ok("Write", json!({"file_path": "run.sh", "content": "new"}))
        .await;

    let after = fs::metadata(&path).expect("there");
    assert_eq!((after.mode() & 0o7777, after.uid()), (0o750, owner));
    assert_eq!(
        (fixture.text("run.sh"), fixture.text("other")),
        ("new".into(), "old".into())
    );
    assert_eq!(names(&fixture, "."), ["other", "run.sh", "src"]);
}

#[tokio::test]
async fn a_link_inside_is_written_through_and_stays() {
    let fixture = Fixture::new();
    fixture.file("real", "old");
    fixture.link("src/link", "../real");

    fixture
        .ok("Write", json!({"file_path": "src/link", "content": "new"}))
        .await;

    assert_eq!(fixture.text("real"), "new");
    assert!(fixture.root().join("src/link").is_symlink());
}

#[tokio::test]
async fn oversized_or_read_only_write_is_refused() {
    let limits = ToolLimits {
        file_bytes: 10,
        ..ToolLimits::default()
    };
    let fixture = Fixture::with(|options| {
        options.limits = limits;
        options.read_only = vec![".autonoe".into()];
    });
    let path = fixture.file("locked", "old");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("ours");
    fixture.file(".autonoe/status.json", "{}");

    for (path, content, code) in [
        ("a", "12345678901", ToolErrorCode::VALIDATION_ERROR),
        ("locked", "new", ToolErrorCode::PERMISSION_DENIED),
        (
            ".autonoe/status.json",
            "[]",
            ToolErrorCode::PERMISSION_DENIED,
        ),
        (".autonoe/new/x", "[]", ToolErrorCode::PERMISSION_DENIED),
        ("src/../.autonoe/x", "[]", ToolErrorCode::PERMISSION_DENIED),
    ] {
        let input = json!({"file_path": path, "content": content});
        assert_eq!(fixture.refused("Write", input).await, code, "{path}");
    }
    assert_eq!(fixture.text("locked"), "old");
    assert_eq!(names(&fixture, ".autonoe"), ["status.json"]);
    assert_eq!(names(&fixture, "."), [".autonoe", "locked", "src"]);
}
