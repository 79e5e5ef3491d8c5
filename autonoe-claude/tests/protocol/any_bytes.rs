//! Property tests of the line reader with any bytes, in any chunks.

use autonoe_claude::wire::{Line, LineReader, Message};
use proptest::prelude::*;

/// The result of a reader.
#[derive(Debug, Default, PartialEq)]
struct Read {
    lines: Vec<Vec<u8>>,
    skipped: u64,
    failed: bool,
}

/// Feeds `bytes` in chunks, and takes the lines after each.
fn read(bytes: &[u8], portions: &[usize], limit: usize) -> Read {
    let mut reader = LineReader::with_limit(limit);
    let mut read = Read::default();
    let mut rest = bytes;
    let mut portions = portions.iter().copied().cycle();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(portions.next().unwrap_or(1).clamp(1, rest.len()));
        rest = later;
        reader.feed(now);
        while note(&mut read, reader.take_lines()) {}
        assert!(reader.pending() <= limit, "more waits than may come");
    }
    note(&mut read, reader.finish());
    read.skipped = reader.skipped();
    read
}

/// Records the result; `false` if there is nothing more for now.
fn note(read: &mut Read, lines: Result<Vec<Line>, impl std::error::Error>) -> bool {
    match lines {
        Ok(lines) => {
            assert!(lines.is_empty() || !read.failed, "lines after the failure");
            read.lines
                .extend(lines.iter().map(|line| line.raw().to_vec()));
            !lines.is_empty()
        }
        Err(_) => {
            read.failed = true;
            false
        }
    }
}

/// Returns the same by the simplest algorithm.
fn expected(bytes: &[u8], limit: usize) -> Read {
    let mut read = Read::default();
    let mut parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    for part in parts {
        if part.len() > limit {
            read.failed = true;
            break;
        }
        let text = part.iter().position(|byte| !b" \t\r".contains(byte));
        match text {
            Some(start) if part[start] == b'{' => read.lines.push(part[start..].to_vec()),
            _ => read.skipped += 1,
        }
    }
    read
}

/// Bytes of the kinds that matter to a line reader.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => Just(b'\n'),
        3 => Just(b'{'),
        1 => Just(b' '),
        1 => Just(b'\r'),
        4 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..400)
}

fn portions() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..60, 1..20)
}

proptest! {
    #[test]
    fn the_lines_are_the_same_in_any_portions(
        bytes in bytes(),
        portions in portions(),
        limit in 1_usize..60,
    ) {
        prop_assert_eq!(read(&bytes, &portions, limit), expected(&bytes, limit));
    }

    #[test]
    fn every_request_between_noise_is_answered(
        parts in prop::collection::vec((any::<bool>(), "[^\\n]{0,40}"), 0..40),
        portions in portions(),
    ) {
        let mut requests = Vec::new();
        let mut written = Vec::new();
        for (number, (is_request, noise)) in parts.iter().enumerate() {
            if *is_request {
                let text = serde_json::Value::from(noise.as_str());
                written.extend_from_slice(format!(
                    r#"{{"type":"control_request","request_id":"{number}","request":{{"subtype":"hook_callback","callback_id":{text}}}}}"#
                ).as_bytes());
                requests.push(number.to_string());
            } else {
                // An object that starts in the noise would be a message of its own.
                written.extend_from_slice(noise.trim_start_matches(['{', ' ', '\t', '\r']).as_bytes());
            }
            written.push(b'\n');
        }

        let lines = read(&written, &portions, LineReader::LIMIT).lines;

        let received: Vec<String> = lines.iter().map(|line| {
            let line = Line::from_text(String::from_utf8(line.clone()).expect("text")).expect("a line");
            match line.parse() {
                Message::ControlRequest(request) => request.request_id.to_string(),
                other => panic!("{other:?}"),
            }
        }).collect();
        prop_assert_eq!(received, requests);
    }

    #[test]
    fn memory_stays_within_the_limit(
        chunk in 1_usize..5000,
        limit in 1_usize..2000,
    ) {
        let mut reader = LineReader::with_limit(limit);
        let chunk = vec![b'{'; chunk];

        for _ in 0..50 {
            reader.buffer().extend_from_slice(&chunk);
            let _ = reader.take_lines();
            prop_assert!(reader.pending() <= limit);
            prop_assert!(reader.buffer().capacity() <= 1 << 20);
        }
    }
}
