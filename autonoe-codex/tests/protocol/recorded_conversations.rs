//! Events and outcomes of recorded conversations.

use crate::replay::{names, replay};

const COMMAND: &str = r#"calls Bash "echo it's \"me\"; exit 3""#;

#[test]
fn allowed_calls_are_reported_and_answered() {
    let replayed = replay("allowed");

    assert_eq!(
        replayed.descriptions,
        [
            "started",
            "thinks Plan first",
            "says It's time.",
            COMMAND,
            "failed: /bin/bash: -c: line 1: unexpected EOF while looking for matching `''",
            "used 110",
            r#"calls Edit "/srv/project/made.txt""#,
            "ok: ",
            "used 110",
            r#"calls mcp__autonoe__create {"id":"D1"}"#,
            "ok: ok",
            "used 110",
            "calls mcp__del__list {}",
            "ok: {}",
            "used 110",
            "used 110",
            "says done",
            "used 110",
            "end: completed",
        ]
    );
    assert_eq!(
        replayed.requests,
        [
            r#"command Some("/bin/bash -lc \"echo it's \\\"me\\\"; exit 3\"")"#,
            "patch",
            r#"tool create {"id":"D1"}"#,
            "server del Some(Object {})",
        ]
    );
}

#[test]
fn calls_that_were_declined_are_answered_once() {
    let replayed = replay("declined");

    let answers = [
        "denied: ",
        "denied: ",
        "failed: no",
        "failed: user rejected MCP tool call",
    ];
    let descriptions = replayed.descriptions.iter().map(String::as_str);
    let descriptions: Vec<_> = descriptions
        .filter(|line| line.starts_with("denied") || line.starts_with("failed"))
        .collect();
    assert_eq!(descriptions, answers);
}

#[test]
fn every_conversation_ends_as_it_did() {
    let ends: Vec<_> = names()
        .into_iter()
        .map(|name| {
            let end = replay(&name).descriptions.pop().expect("an end");
            // Messages of the service are long.
            let end: String = end.chars().take(36).collect();
            (name, end)
        })
        .collect();

    let expected = [
        ("allowed", "end: completed"),
        ("bad_request", r#"end: failed: {"error": {"message": ""#),
        ("context_window", "end: failed: Codex ran out of room i"),
        ("cut_always", "error: other"),
        ("cut_once", "end: completed"),
        ("declined", "end: completed"),
        ("forbidden", "error: authentication"),
        ("insufficient_quota", "end: hit the quota (Quota exceeded. "),
        ("interrupted", "end: was interrupted"),
        ("kept", "end: completed"),
        ("model_not_found", "error: configuration"),
        ("rate_limited", "error: overloaded"),
        ("resumed", "end: completed"),
        ("server_error", "error: overloaded"),
        ("steered", "end: completed"),
        ("unauthorized", "error: authentication"),
        ("usage_limit", "end: hit the quota (You’ve hit your "),
    ];
    let expected = expected.map(|(name, end)| (name.to_owned(), end.to_owned()));
    assert_eq!(ends, expected);
}

#[test]
fn a_quota_is_reported_before_it_ends_the_turn() {
    let descriptions = replay("usage_limit").descriptions;

    assert_eq!(descriptions[1], r#"limit "five_hour" Rejected 100"#);
    assert_eq!(descriptions[2], r#"limit "seven_day" Allowed 40"#);
}

#[test]
fn an_incomplete_answer_is_not_reported() {
    let descriptions = replay("cut_once").descriptions;

    let warnings: Vec<_> = descriptions
        .iter()
        .filter(|line| line.starts_with("says"))
        .collect();
    assert_eq!(warnings, ["says whole answer"]);
    let warned = descriptions
        .iter()
        .filter(|line| line.starts_with("warns Reconnecting"));
    assert_eq!(warned.count(), 1);
}

#[test]
fn usage_of_earlier_turns_is_reported_once() {
    let descriptions = replay("resumed").descriptions;

    let used: Vec<_> = descriptions
        .iter()
        .filter(|line| line.starts_with("used"))
        .collect();
    assert_eq!(used, ["used 110"]);
}
