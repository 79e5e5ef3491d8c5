//! Messages in the recorded formats and in possible future ones.

use autonoe_claude::wire::{
    Block, ControlResponse, Line, Message, RequestContent, ToolResult, UserBlock,
};
use autonoe_testkit::CapturedLogs;
use serde_json::json;

fn line(text: impl Into<String>) -> Line {
    Line::from_text(text).expect("one line")
}

fn results(text: &str) -> Vec<(String, String, bool)> {
    let line = line(text);
    let Message::User(user_message) = line.parse() else {
        panic!("{line:?}")
    };
    let result = |block: &UserBlock<'_>| match block {
        UserBlock::ToolResult(ToolResult {
            tool_use_id,
            output,
            is_error,
            ..
        }) => Some((tool_use_id.to_string(), output.to_string(), *is_error)),
        _ => None,
    };
    user_message.blocks.iter().filter_map(result).collect()
}

#[test]
fn the_output_of_a_tool_is_a_text_or_a_list() {
    for (content, expected) in [
        (json!("plain"), "plain"),
        (json!([{"type": "text", "text": "one"}]), "one"),
        (
            json!([{"type": "text", "text": "one"}, {"type": "image", "source": {}}, {"type": "text", "text": "two"}]),
            "one\n[image]\ntwo",
        ),
        (json!([]), ""),
        (json!(null), ""),
        (json!(7), ""),
        (json!([7, null, "x"]), ""),
    ] {
        let text = json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content}
        ]}});

        let expected = vec![("t".to_owned(), expected.to_owned(), false)];
        assert_eq!(results(&text.to_string()), expected, "{text}");
    }
}

#[test]
fn a_message_to_the_agent_may_be_plain_text() {
    let line = line(r#"{"type":"user","message":{"role":"user","content":"hello"}}"#);

    let Message::User(user_message) = line.parse() else {
        panic!("{line:?}")
    };

    assert_eq!(user_message.blocks, [UserBlock::Text("hello".into())]);
}

#[test]
fn unknown_blocks_are_preserved_among_known_ones() {
    let line = line(
        r#"{"type":"assistant","message":{"content":[{"type":"brand_new_block","z":1},{"type":"text","text":"known"},7,{"type":"tool_use","name":"no id"}]}}"#,
    );

    let Message::Assistant(message) = line.parse() else {
        panic!("{line:?}")
    };

    assert_eq!(
        message.blocks,
        [
            Block::Other(Some("brand_new_block".into())),
            Block::Text("known".into()),
            Block::Other(Some("tool_use".into())),
        ]
    );
}

#[test]
fn an_unknown_message_is_logged_unchanged() {
    let logs = CapturedLogs::start();

    line(r#"{"type":"brand_new_type","x":[1]}"#).parse();

    let traced = logs.lines();
    assert_eq!(traced.len(), 1, "{traced:?}");
    let expected = r#"ignored an unknown message line={\"type\":\"brand_new_type\",\"x\":[1]}"#;
    assert_eq!(traced[0].message, expected);
}

#[test]
fn unknown_messages_are_preserved() {
    for (text, name, subtype) in [
        (
            r#"{"type":"brand_new_type","x":[1,{"y":null}]}"#,
            "brand_new_type",
            None,
        ),
        (
            r#"{"type":"system","subtype":"brand_new","foo":1}"#,
            "system",
            Some("brand_new"),
        ),
        (r#"{"type":"keep_alive"}"#, "keep_alive", None),
        (r#"{"no":"type"}"#, "", None),
    ] {
        let line = line(text);

        assert!(matches!(line.parse(), Message::Unknown), "{text}");
        assert_eq!((line.type_name(), line.subtype()), (name, subtype));
        assert_eq!(line.raw(), text.as_bytes());
    }
}

#[test]
fn a_truncated_message_is_not_mistaken_for_a_whole_one() {
    let whole = r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#;

    for end in 1..whole.len() {
        let line = line(&whole[..end]);
        let read = line.parse();
        let harmless = matches!(read, Message::Unknown | Message::Unreadable { .. });
        assert!(harmless, "{line:?} was read as {read:?}");
    }
}

#[test]
fn an_unknown_request_can_still_be_answered() {
    for request in [
        r#"{"subtype":"brand_new","x":1}"#,
        r#"{"subtype":7}"#,
        "{}",
        "null",
        "[]",
        "\"text\"",
    ] {
        let line = line(format!(
            r#"{{"type":"control_request","request_id":"r","request":{request}}}"#
        ));

        let Message::ControlRequest(request) = line.parse() else {
            panic!("{line:?}")
        };
        assert_eq!(request.request_id, "r");
        assert!(
            matches!(request.content, RequestContent::Unknown { .. }),
            "{line:?}"
        );
    }
}

#[test]
fn a_hook_receives_calls_with_invalid_unicode_or_deep_nesting() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for (input, expected) in [
        (
            r#"{"command":"echo \ud83d"}"#,
            Some(json!({"command": "echo \u{fffd}"})),
        ),
        (deep.as_str(), None),
    ] {
        let line = line(format!(
            r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"hook_callback","callback_id":"gate","input":{{"cwd":"/srv/\udc00","tool_name":"Bash","tool_input":{input}}}}}}}"#
        ));

        let Message::ControlRequest(request) = line.parse() else {
            panic!("{line:?}")
        };
        let RequestContent::Hook(hook) = request.content else {
            panic!("{request:?}")
        };
        let about = hook.input.expect("it is about something");
        assert_eq!(about.tool_name.as_deref(), Some("Bash"));
        assert_eq!(about.cwd.as_deref(), Some("/srv/\u{fffd}"));
        assert_eq!(about.tool_input.expect("an input").value(), expected);
    }
}

#[test]
fn an_answer_is_a_success_only_if_it_is_marked_as_one() {
    for (text, expected) in [
        (r#"{"subtype":"success","request_id":"r"}"#, Ok(None)),
        (
            r#"{"subtype":"success","request_id":"r","response":{"a":1},"pending_permission_requests":[]}"#,
            Ok(Some(json!({"a": 1}))),
        ),
        (
            r#"{"subtype":"error","request_id":"r","error":"unsupported"}"#,
            Err("unsupported"),
        ),
        (r#"{"request_id":"r"}"#, Err("the program gave no reason")),
    ] {
        let line = line(format!(
            r#"{{"type":"control_response","response":{text}}}"#
        ));

        let Message::ControlResponse(ControlResponse {
            request_id, answer, ..
        }) = line.parse()
        else {
            panic!("{line:?}")
        };
        assert_eq!(request_id, "r");
        let answer = answer.map(|answer| answer.and_then(|answer| answer.value()));
        assert_eq!(
            answer.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }
}

#[test]
fn numbers_may_be_fractions_or_missing() {
    let line = line(
        r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":622.6821221309716,"error_status":null,"error":"unknown"}"#,
    );
    let Message::ApiRetry(retry) = line.parse() else {
        panic!("{line:?}")
    };
    assert_eq!(retry.error_status, None);
    assert!(retry.retry_delay_ms.is_some_and(|delay| delay > 622.0));

    let line = self::line(
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour","isUsingOverage":false}}"#,
    );
    let Message::RateLimit(event) = line.parse() else {
        panic!("{line:?}")
    };
    assert!(event.is_rejected());
    assert_eq!(event.resets_at, None);
}
