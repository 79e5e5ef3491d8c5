//! Tests of parsing server-sent events.

use proptest::prelude::*;

use super::*;

fn event(name: &str, data: &str) -> ServerEvent {
    ServerEvent {
        name: name.into(),
        data: data.into(),
    }
}

/// Returns the events of `pieces`, and the unfinished event at the end.
fn frame<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ServerEvent>, Option<ServerEvent>) {
    let mut framer = SseParser::default();
    let mut events = Vec::new();
    for piece in pieces {
        framer.push(piece).expect("it is text");
        events.extend(std::iter::from_fn(|| framer.next_event()));
    }
    (events, framer.rest())
}

#[test]
fn events_are_parsed_per_specification() {
    for (text, events, rest) in [
        ("data: a\n\n", vec![event("", "a")], None),
        ("data:a\n\n", vec![event("", "a")], None),
        ("data:  a \n\n", vec![event("", " a ")], None),
        ("event: x\ndata: a\n\n", vec![event("x", "a")], None),
        ("data: a\nevent: x\n\n", vec![event("x", "a")], None),
        ("event: x\n\ndata: a\n\n", vec![event("", "a")], None),
        (
            "event: x\ndata: a\n\ndata: b\n\n",
            vec![event("x", "a"), event("", "b")],
            None,
        ),
        (
            "data: a\ndata: b\ndata\ndata: c\n\n",
            vec![event("", "a\nb\n\nc")],
            None,
        ),
        ("data: a\r\n\r\n", vec![event("", "a")], None),
        (
            "event: x\r\ndata: a\r\ndata: b\r\n\r\n",
            vec![event("x", "a\nb")],
            None,
        ),
        ("data: a\r\r", vec![event("", "a")], None),
        (
            "data: a\r\n\ndata: b\n\r\n",
            vec![event("", "a"), event("", "b")],
            None,
        ),
        (
            ": hello\n\n:\n\ndata: a\n: in it\n\n",
            vec![event("", "a")],
            None,
        ),
        ("\u{feff}data: a\n\n", vec![event("", "a")], None),
        ("data: \u{feff}a\n\n", vec![event("", "\u{feff}a")], None),
        (
            "id: 1\nretry: 5\nfoo: x\ndata: a\n\n",
            vec![event("", "a")],
            None,
        ),
        ("data\n\ndata:\n\n", vec![], None),
        ("data: a", vec![], Some(event("", "a"))),
        ("event: x\ndata: a\n", vec![], Some(event("x", "a"))),
        ("<html>\n<p>data: a</p>\n\n</html>", vec![], None),
        ("", vec![], None),
    ] {
        assert_eq!(frame([text.as_bytes()]), (events, rest), "{text:?}");
    }
}

#[test]
fn an_event_has_a_largest_size() {
    let mut framer = SseParser::new(10);
    framer.push(b"data: a\n\n").expect("it is small");
    framer.push(b"data: bcd").expect("it is small");

    assert_eq!(framer.push(b"ef"), Err(FrameError::TooLarge(10)));
    assert_eq!(framer.next_event(), Some(event("", "a")));

    // Also in many small lines.
    let mut framer = SseParser::new(10);
    let fed = (0..10).try_for_each(|_| framer.push(b"data:x\n"));
    assert_eq!(fed, Err(FrameError::TooLarge(10)));
}

#[test]
fn invalid_utf8_is_an_error_outside_comments() {
    let mut framer = SseParser::default();

    framer.push(b": \xff\n").expect("a comment does not count");
    assert_eq!(framer.push(b"data: \xff\n"), Err(FrameError::NoText));
}

#[test]
fn a_large_event_in_small_pieces_costs_as_much_as_its_bytes() {
    let text = format!("data: {}\n\n", "x".repeat(8 << 20));

    let (events, _) = frame(text.as_bytes().chunks(7));

    // If each piece scanned the whole text, this would take hours.
    assert_eq!(events[0].data.len(), 8 << 20);
}

fn line() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        Just("data".to_owned()),
        Just("event".to_owned()),
        Just(String::new()),
        "[a-z]{1,4}",
    ];
    let field = (field, "(: ?)?", "[a-zäß€𝄞:]{0,6}");
    let end = prop_oneof![
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\n\n"),
        Just("\r\n\r\n")
    ];
    (field, end).prop_map(|((name, colon, value), end)| format!("{name}{colon}{value}{end}"))
}

proptest! {
    #[test]
    fn events_are_the_same_whatever_ends_their_lines(
        written in prop::collection::vec(("[a-z_]{0,5}", "[a-zä€𝄞:]{1,4}(\n[a-zä€ ]{0,4}){0,3}"), 0..6),
        ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r"), Just("\r\n")], 1..4),
    ) {
        let mut ends = ends.iter().cycle();
        let mut text = String::new();
        let mut put = |line: &str| {
            // An LF after a CR would belong to the same line end.
            let end = ends.next().expect("it goes on");
            let end = if text.ends_with('\r') && line.is_empty() { "\r" } else { end };
            text.push_str(line);
            text.push_str(end);
        };
        for (name, data) in &written {
            put(&format!("event: {name}"));
            data.split('\n').for_each(|line| put(&format!("data: {line}")));
            put("");
        }

        let expected: Vec<_> = written.iter().map(|(name, data)| event(name, data)).collect();
        prop_assert_eq!(frame([text.as_bytes()]), (expected, None));
    }

    #[test]
    fn any_split_gives_the_same_events(
        mark in prop_oneof![Just(""), Just("\u{feff}")],
        lines in prop::collection::vec(line(), 0..20),
        cuts in prop::collection::vec(0_usize..200, 0..20),
    ) {
        let text = format!("{mark}{}", lines.concat());
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();

        let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);

        let whole = frame([bytes]);
        prop_assert_eq!(&frame(pieces), &whole);
        prop_assert_eq!(&frame(bytes.chunks(1)), &whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let mut framer = SseParser::new(64);
        let _ = framer.push(&bytes);
        let _ = framer.next_event();
        let _ = framer.rest();
    }
}
