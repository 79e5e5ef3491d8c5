//! Write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use autonoe_core::ToolErrorCode;
use autonoe_model::ToolLimits;
use serde_json::json;

use crate::tools::yard::Yard;

/// The entries of a directory, those that a writer has left behind too.
fn names(yard: &Yard, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(yard.root().join(directory)).expect("there");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries.flatten().map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_new_file_is_made_with_its_directories() {
    let yard = Yard::new();

    let input = json!({"file_path": "new/deep/file.txt", "content": "hello\n"});
    let output = yard.call("Write", input).await.expect("written");

    assert_eq!(yard.text("new/deep/file.txt"), "hello\n");
    assert_eq!(output.metadata["created"], true);
    assert_eq!(names(&yard, "new/deep"), ["file.txt"]);
}

#[tokio::test]
async fn a_file_keeps_its_permissions_and_leaves_its_other_names_alone() {
    let yard = Yard::new();
    let path = yard.file("run.sh", "old");
    fs::set_permissions(&path, Permissions::from_mode(0o750)).expect("ours");
    fs::hard_link(&path, yard.root().join("other")).expect("writable");
    let owner = fs::metadata(&path).expect("there").uid();

    yard.ok("Write", json!({"file_path": "run.sh", "content": "new"}))
        .await;

    let after = fs::metadata(&path).expect("there");
    assert_eq!((after.mode() & 0o7777, after.uid()), (0o750, owner));
    assert_eq!(
        (yard.text("run.sh"), yard.text("other")),
        ("new".into(), "old".into())
    );
    assert_eq!(names(&yard, "."), ["other", "run.sh", "src"]);
}

#[tokio::test]
async fn a_link_inside_is_written_through_and_stays() {
    let yard = Yard::new();
    yard.file("real", "old");
    yard.link("src/link", "../real");

    yard.ok("Write", json!({"file_path": "src/link", "content": "new"}))
        .await;

    assert_eq!(yard.text("real"), "new");
    assert!(yard.root().join("src/link").is_symlink());
}

#[tokio::test]
async fn what_is_too_large_or_read_only_is_refused_and_stays() {
    let limits = ToolLimits {
        file_bytes: 10,
        ..ToolLimits::default()
    };
    let yard = Yard::with(|options| options.limits(limits).read_only(".autonoe"));
    let path = yard.file("locked", "old");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("ours");
    yard.file(".autonoe/status.json", "{}");

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
        assert_eq!(yard.refused("Write", input).await, code, "{path}");
    }
    assert_eq!(yard.text("locked"), "old");
    assert_eq!(names(&yard, ".autonoe"), ["status.json"]);
    assert_eq!(names(&yard, "."), [".autonoe", "locked", "src"]);
}
