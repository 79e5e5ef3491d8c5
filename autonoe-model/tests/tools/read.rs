//! Tests of Read.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use autonoe_core::tool::ToolErrorCode;
use autonoe_model::tools::ToolLimits;
use serde_json::json;

use crate::tools::fixture::{DEADLINE, Fixture};

#[tokio::test]
async fn a_file_is_read_with_line_numbers() {
    let fixture = Fixture::new();
    let path = fixture.file("src/a.txt", "one\ntwo\n");

    let text = fixture.ok("Read", json!({"file_path": path})).await;
    let same = fixture.ok("Read", json!({"file_path": "src/a.txt"})).await;

    assert_eq!(text, "     1\tone\n     2\ttwo\n");
    assert_eq!(same, text);
}

#[tokio::test]
async fn a_part_is_read_and_the_next_one_is_named() {
    let fixture = Fixture::new();
    fixture.file("a", "1\n2\n3\n4\n5\n");

    let input = json!({"file_path": "a", "offset": 2, "limit": 2});
    let output = fixture.call("Read", input).await.expect("readable");

    let expected = "     2\t2\n     3\t3\n[more lines follow; continue with offset 4]\n";
    assert_eq!(output.output, expected);
    assert_eq!(output.metadata["truncated"], true);
    let behind = json!({"file_path": "a", "offset": 9});
    let code = fixture.refused("Read", behind).await;
    assert_eq!(code, ToolErrorCode::VALIDATION_ERROR);
}

#[tokio::test]
async fn huge_file_is_truncated_with_a_notice() {
    let limits = ToolLimits {
        read_bytes: 1_000,
        line_bytes: 100,
        ..ToolLimits::default()
    };
    let fixture = Fixture::with(|options| options.limits = limits);
    fixture.file("long-line", "x".repeat(3_000_000));
    fixture.file("many-lines", "line\n".repeat(1_000_000));

    let line = fixture.ok("Read", json!({"file_path": "long-line"})).await;
    let lines = fixture.ok("Read", json!({"file_path": "many-lines"})).await;

    assert_eq!(
        line,
        format!("     1\t{} [... 2999900 bytes left out]\n", "x".repeat(100))
    );
    assert!(lines.len() < 1_200, "{}", lines.len());
    assert!(
        lines.ends_with("[more lines follow; continue with offset 85]\n"),
        "{lines}"
    );
}

#[tokio::test]
async fn irregular_files_are_refused_immediately() {
    let fixture = Fixture::new();
    let fifo = fixture.root().join("fifo");
    let status = Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .expect("it starts");
    assert!(status.success());
    let _socket =
        std::os::unix::net::UnixListener::bind(fixture.root().join("socket")).expect("new");
    fixture.link("null", "/dev/null");
    fixture.link("to-fifo", "fifo");
    let start = Instant::now();

    for (path, code) in [
        ("fifo", ToolErrorCode::VALIDATION_ERROR),
        ("to-fifo", ToolErrorCode::VALIDATION_ERROR),
        ("socket", ToolErrorCode::VALIDATION_ERROR),
        ("src", ToolErrorCode::VALIDATION_ERROR),
        ("null", ToolErrorCode::PERMISSION_DENIED),
        ("nothing", ToolErrorCode::NOT_FOUND),
    ] {
        assert_eq!(
            fixture.refused("Read", json!({"file_path": path})).await,
            code,
            "{path}"
        );
        let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        assert_eq!(fixture.refused("Edit", edit).await, code, "{path}");
    }
    for path in ["fifo", "socket", "src", "null"] {
        fixture
            .refused("Write", json!({"file_path": path, "content": "x"}))
            .await;
    }
    assert!(start.elapsed() < DEADLINE);
    assert!(fifo.exists());
}

#[tokio::test]
async fn a_binary_file_is_reported_and_an_image_is_attached() {
    let fixture = Fixture::new();
    fixture.file("program", b"\x7fELF\0\0\0");
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    fixture.file("picture", png);

    let refused = fixture.call("Read", json!({"file_path": "program"})).await;
    let image = fixture.call("Read", json!({"file_path": "picture"})).await;

    let message = refused.expect_err("binary").message;
    assert!(message.contains("binary file of 7 bytes"), "{message}");
    let attachment = &image.expect("an image").attachments[0];
    assert_eq!(attachment.media_type, "image/png");
    assert_eq!(&attachment.data[..], png);
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_refused() {
    let fixture = Fixture::new();
    fixture.file("a", "x");
    for input in [
        json!({}),
        json!({"path": "a"}),
        json!({"file_path": "a", "encoding": "latin1"}),
        json!({"file_path": ["a"]}),
        json!({"file_path": ""}),
    ] {
        let code = fixture.refused("Read", input.clone()).await;
        assert_eq!(code, ToolErrorCode::VALIDATION_ERROR, "{input}");
    }
}

#[tokio::test]
async fn skipping_to_a_late_line_is_limited_by_the_search_time() {
    let fixture = Fixture::with(|options| {
        options.limits.search_time = Duration::from_millis(100);
    });
    let path = fixture.file("far", "y\n".repeat(5_000));
    let file = fs::OpenOptions::new().write(true).open(path);
    // A sparse file that would take hours to read.
    file.and_then(|file| file.set_len(8 << 40)).expect("sparse");

    let input = json!({"file_path": "far", "offset": 100_000_000});
    let error = fixture.call("Read", input).await.expect_err("it is far");

    assert_eq!(error.code, ToolErrorCode::TIMEOUT, "{error}");
    assert!(error.message.contains("100 milliseconds"), "{error}");
}
