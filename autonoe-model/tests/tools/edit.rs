//! Tests of Edit.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use autonoe_core::tool::ToolErrorCode;
use futures::future::join_all;
use serde_json::json;

use crate::tools::fixture::Fixture;

#[tokio::test]
async fn unique_text_is_replaced_and_the_rest_unchanged() {
    let fixture = Fixture::new();
    let path = fixture.file("a.rs", b"fn main() {\r\n    old();\r\n}\xff\r\n");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");

    let input = json!({"file_path": "a.rs", "old_string": "old()", "new_string": "new()"});
    let output = fixture.call("Edit", input).await.expect("edited");

    assert_eq!(
        fs::read(&path).expect("there"),
        b"fn main() {\r\n    new();\r\n}\xff\r\n"
    );
    assert_eq!(
        fs::metadata(&path).expect("there").permissions().mode() & 0o777,
        0o755
    );
    assert_eq!(output.metadata["line"], 2);
}

#[tokio::test]
async fn missing_or_repeated_text_is_refused_with_reason() {
    let fixture = Fixture::new();
    fixture.file("a", "x y x");
    for (old, new, code, reason) in [
        ("z", "q", ToolErrorCode::NOT_FOUND, "not in the file"),
        ("x", "q", ToolErrorCode::VALIDATION_ERROR, "2 times"),
        ("y", "y", ToolErrorCode::VALIDATION_ERROR, "the same"),
        ("", "q", ToolErrorCode::VALIDATION_ERROR, "empty"),
    ] {
        let input = json!({"file_path": "a", "old_string": old, "new_string": new});
        let error = fixture.call("Edit", input).await.expect_err("refused");
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(reason), "{error}");
    }
    let all = json!({"file_path": "a", "old_string": "x", "new_string": "z", "replace_all": true});
    fixture.ok("Edit", all).await;
    assert_eq!(fixture.text("a"), "z y z");
}

#[tokio::test]
async fn an_edit_with_a_too_large_result_is_refused_before_the_write() {
    let fixture = Fixture::new();
    let before = "a".repeat(1 << 20);
    fixture.file("a", &before);
    let input = json!({
        // 4 TiB, which no machine has in memory.
        "file_path": "a", "old_string": "a", "new_string": "b".repeat(4 << 20), "replace_all": true,
    });

    let error = fixture.call("Edit", input).await.expect_err("refused");

    assert_eq!(error.code, ToolErrorCode::VALIDATION_ERROR, "{error}");
    assert!(
        error.message.contains("more than 16777216 bytes"),
        "{error}"
    );
    assert_eq!(fixture.text("a"), before);
}

#[tokio::test]
async fn a_repetitive_file_is_searched_in_linear_time() {
    let fixture = Fixture::new();
    fixture.file("a", "a".repeat(16 << 20));
    for old in ["a".repeat(200_000), "a".to_owned()] {
        let input = json!({"file_path": "a", "old_string": old, "new_string": "b"});

        let error = fixture.call("Edit", input).await.expect_err("refused");

        assert!(error.message.contains("more than 10 times"), "{error}");
    }
    let all = json!({
        "file_path": "a", "old_string": "a".repeat(4), "new_string": "b", "replace_all": true,
    });
    fixture.ok("Edit", all).await;
    assert_eq!(fixture.text("a"), "b".repeat(4 << 20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn edits_at_the_same_time_do_not_lose_one_another() {
    let fixture = Fixture::new();
    let words: Vec<_> = (0..40).map(|number| format!("<old-{number}>")).collect();
    fixture.file("a", words.join("\n"));

    let edits = (0..40).map(|number| {
        let (old, new) = (format!("<old-{number}>"), format!("<new-{number}>"));
        let input = json!({"file_path": "a", "old_string": old, "new_string": new});
        fixture.ok("Edit", input)
    });
    join_all(edits).await;

    assert_eq!(fixture.text("a"), words.join("\n").replace("old", "new"));
}
