//! Files that are not what they should be: a clear error, and nothing is changed.

use std::fs;

use autonoe_core::{
    DeliverableRepository, Epoch, Fence, FileDeliverableRepository, LedgerState, Project,
    RepositoryErrorKind,
};
use jiff::civil::date;

#[tokio::test]
async fn a_status_file_that_is_no_ledger_is_an_error_and_stays() {
    let huge = format!("{{\"deliverables\":[{}]}}", "[".repeat(100_000));
    let cases: [(&str, &[u8]); 9] = [
        ("empty", b""),
        ("blank", b" \n"),
        ("not json", b"hello"),
        ("truncated", b"{\"deliverables\": [{\"id\": \"A\""),
        ("wrong type", b"{\"deliverables\": {}}"),
        ("no deliverables", b"{}"),
        ("both flags", b"{\"deliverables\":[{\"id\":\"A\",\"description\":\"x\",\"passed\":true,\"blocked\":true}]}"),
        ("not text", b"\xff\xfe{}"),
        ("deep", huge.as_bytes()),
    ];
    let mut messages = String::new();
    for (what, bytes) in cases {
        let dir = tempfile::tempdir().expect("a folder");
        let project = Project::find(dir.path(), None).expect("it is there");
        let repository = FileDeliverableRepository::open(&project).expect("writable");
        fs::write(project.status_path(), bytes).expect("writable");

        let loaded = repository.load().await.expect_err(what);
        let state = LedgerState::new(date(2026, 1, 1));
        let saved = repository
            .save(
                &state,
                Fence {
                    base: None,
                    epoch: Epoch(9),
                },
            )
            .await;

        assert_eq!(loaded.kind(), RepositoryErrorKind::Corrupt, "{what}");
        let refused = saved.expect_err(what);
        assert_eq!(refused.kind(), RepositoryErrorKind::Corrupt, "{what}");
        assert_eq!(
            fs::read(project.status_path()).expect("readable"),
            bytes,
            "{what}"
        );
        let root = project.root().display().to_string();
        let said = autonoe_core::Failure::from(&loaded)
            .message
            .replace(&root, "PROJECT");
        messages.push_str(&format!("{what}: {said}\n"));
    }
    insta::assert_snapshot!(messages);
}

#[tokio::test]
async fn a_folder_in_the_place_of_the_file_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let project = Project::find(dir.path(), None).expect("it is there");
    let repository = FileDeliverableRepository::open(&project).expect("writable");
    fs::create_dir(project.status_path()).expect("writable");

    let error = repository.load().await.expect_err("it is a folder");

    assert_eq!(error.kind(), RepositoryErrorKind::Unavailable);
}
