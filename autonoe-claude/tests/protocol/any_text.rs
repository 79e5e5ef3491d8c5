//! Property tests with any text, in both directions.

use autonoe_claude::outcome::{is_quota_text, reset_time, stderr_excerpt};
use autonoe_claude::wire::{Block, Line, Message, OutgoingLine, Request};
use jiff::tz::TimeZoneDatabase;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the sent value, after checking that it is one line.
fn sent(line: &OutgoingLine) -> Value {
    let bytes = line.as_bytes();
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert!(ends == 1 && bytes.ends_with(b"\n"), "{line:?}");
    serde_json::from_slice(bytes).expect("JSON")
}

/// Formats a time of day like the program.
fn spelled(hour: i8, minute: i8) -> String {
    let half = if hour < 12 { "am" } else { "pm" };
    let hour = match hour % 12 {
        0 => 12,
        hour => hour,
    };
    match minute {
        0 => format!("{hour}{half}"),
        minute => format!("{hour}:{minute:02}{half}"),
    }
}

proptest! {
    #[test]
    fn outgoing_messages_are_one_line_with_their_values(text in any::<String>(), id in any::<String>()) {
        prop_assert_eq!(&sent(&OutgoingLine::prompt(&text))["message"]["content"], &json!(text));
        let denied = sent(&OutgoingLine::hook_denies(&id, &text));
        prop_assert_eq!(&denied["response"]["request_id"], &json!(id));
        prop_assert_eq!(
            &denied["response"]["response"]["hookSpecificOutput"]["permissionDecisionReason"],
            &json!(text)
        );
        let servers = vec![text.clone()];
        let initialize = Request::Initialize { hook_seconds: 30, sdk_mcp_servers: servers };
        let initialized = sent(&initialize.to_line(&id));
        prop_assert_eq!(&initialized["request"]["sdkMcpServers"], &json!([text]));
        let mcp = json!({"result": {&text: [&text]}});
        let answered = sent(&OutgoingLine::mcp_response(&id, &mcp));
        prop_assert_eq!(&answered["response"]["response"]["mcp_response"], &mcp);
        prop_assert_eq!(&sent(&OutgoingLine::failure(&id, &text))["response"]["error"], &json!(text));
        let denied = sent(&OutgoingLine::tool_denied(&id, &text));
        prop_assert_eq!(&denied["response"]["response"]["message"], &json!(text));
    }

    #[test]
    fn any_utf_16_is_read_with_halves_of_pairs_replaced(
        units in prop::collection::vec(prop_oneof![
            any::<u16>(),
            0xD800_u16..0xE000,
            Just(u16::from(b'\\')),
            Just(u16::from(b'"')),
            Just(u16::from(b'u')),
        ], 0..40),
    ) {
        let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let line = Line::from_text(format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{escaped}"}}]}}}}"#
        )).expect("a line");

        let Message::Assistant(message) = line.parse() else { panic!("{line:?}") };

        let expected = String::from_utf16_lossy(&units);
        prop_assert_eq!(message.blocks, [Block::Text(expected.into())]);
    }

    #[test]
    fn a_reset_within_a_day_is_found_in_any_zone(
        now in 1_700_000_000_i64..1_900_000_000,
        // A day may have 23 hours, and a time almost a day away looks like one that has just
        // passed.
        minutes in 1_i64..(22 * 60 + 45),
        zone in prop::sample::select(&["UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin", "Pacific/Chatham", "Etc/GMT+5"][..]),
    ) {
        let now = Timestamp::from_second(now).expect("in range");
        let reset = now + SignedDuration::from_mins(minutes);
        let tz = TimeZoneDatabase::bundled().get(zone).expect("a zone");
        let local = tz.to_datetime(reset);
        let text = format!("You've hit your session limit · resets {} ({zone})", spelled(local.hour(), local.minute()));

        let found = reset_time(&text, now).expect("a time");

        prop_assert!(is_quota_text(&text));
        let found_local = tz.to_datetime(found);
        prop_assert_eq!((found_local.hour(), found_local.minute()), (local.hour(), local.minute()));
        // An hour that daylight saving repeats has the same text twice.
        let off = found.duration_since(reset).abs();
        prop_assert!(off <= SignedDuration::from_mins(61), "{text}: {found}, not {reset}");
    }

    #[test]
    fn a_reset_on_a_day_is_found_in_any_zone(
        now in 1_700_000_000_i64..1_900_000_000,
        hours in 24_i64..(330 * 24),
        zone in prop::sample::select(&["UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin"][..]),
        with_year in any::<bool>(),
    ) {
        let now = Timestamp::from_second(now).expect("in range");
        let reset = now + SignedDuration::from_hours(hours);
        let tz = TimeZoneDatabase::bundled().get(zone).expect("a zone");
        let local = tz.to_datetime(reset);
        let day = local.strftime(if with_year { "%b %-d, %Y" } else { "%b %-d" });
        let text = format!("You've hit your weekly limit · resets {day}, {} ({zone})", spelled(local.hour(), local.minute()));

        let found = reset_time(&text, now).expect("a time");

        let off = found.duration_since(reset).abs();
        prop_assert!(off <= SignedDuration::from_mins(61), "{text}: {found}, not {reset}");
    }

    #[test]
    fn text_parsers_never_panic(text in any::<String>(), now in any::<i32>()) {
        let now = Timestamp::from_second(i64::from(now)).expect("in range");

        let _ = reset_time(&format!("resets {text}"), now);
        let _ = reset_time(&format!("resets {text} (UTC)"), now);
        let _ = stderr_excerpt(&text);
        let _ = is_quota_text(&text);
    }
}
