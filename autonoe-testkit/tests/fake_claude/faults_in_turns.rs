//! Programs that fail in the middle of a turn.

use std::time::Duration;

use autonoe_claude::wire::LineReader;
use autonoe_core::StreamEvent;
use autonoe_core::agent::SessionOutcome;
use autonoe_testkit::fake_claude::{Build, FakeScript, FaultTrigger, ProgramFault, TurnFault};
use serde_json::json;

use crate::fake_claude::fixture::{Fixture, SetStatus, on_both_builds, recorded};

/// A turn that fails between two texts of the agent.
fn broken(build: Build, turn_fault: TurnFault) -> FakeScript {
    let script = FakeScript::says(["before", "after"]).build(build);
    script.with_fault(after_text(turn_fault))
}

fn after_text(turn_fault: TurnFault) -> ProgramFault {
    ProgramFault::At {
        trigger: FaultTrigger::Texts(1),
        turn_fault,
    }
}

/// Messages whose type, subtype or block no build has.
fn unknown_messages() -> TurnFault {
    let lines = [
        json!({"type": "weather_report", "rain": [1, null]}),
        json!({"type": "system", "subtype": "weather_report"}),
        json!({"type": "control_weather_report"}),
        json!(["no object at all"]),
        json!({
            "type": "assistant",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-x",
                "content": [{"type": "weather_report", "rain": true}],
                "stop_reason": null,
                "usage": {"input_tokens": 100, "output_tokens": 1},
            },
            "parent_tool_use_id": null,
            "session_id": "3676f5ed-b849-4a5e-91cf-5ae74a5b9da2",
            "uuid": "2fec8057-7dc0-402e-95c7-b6b74ed2a089",
        }),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    TurnFault::Garbage(lines.join("\n").into_bytes())
}

async fn slow_lines_are_put_together(build: Build) {
    // Also in the middle of characters.
    let script = FakeScript::says(["grüße, 🦀", "Done."]).build(build);
    let script = script.with_fault(ProgramFault::Slow {
        chunk: 101,
        pause_ms: 1,
    });

    let played = Fixture::new(&script).played().await;

    played.assert_completed(&["grüße, 🦀", "Done."]);
}

async fn garbage_between_lines_is_passed_over(build: Build) {
    let garbage: [&[u8]; 7] = [
        b"",
        b"   \r",
        b"[SandboxDebug] not JSON",
        b"{\"type\":\"assistant\",\"message\":",
        b"{}{}",
        b"\x00\xff\xfe\x80{\"\x1b[31m",
        b"null",
    ];
    let mut script = FakeScript::says(["before", "after"]).build(build);
    for bytes in garbage {
        script = script.with_fault(after_text(TurnFault::Garbage(bytes.to_vec())));
    }

    let played = Fixture::new(&script).played().await;

    played.assert_completed(&["before", "after"]);
}

async fn unknown_messages_are_passed_over(build: Build) {
    let played = Fixture::new(&broken(build, unknown_messages()))
        .played()
        .await;

    played.assert_completed(&["before", "after"]);
}

async fn an_unknown_request_gets_an_answer(build: Build) {
    let fixture = Fixture::new(&broken(build, TurnFault::UnknownRequest));

    let played = fixture.played().await;

    played.assert_completed(&["before", "after"]);
    let log = fixture.log();
    let is_error = |entry: &&serde_json::Value| {
        entry["dir"] == "in" && entry["line"]["response"]["subtype"] == "error"
    };
    assert_eq!(log.iter().filter(is_error).count(), 1, "{log:?}");
}

async fn death_in_a_turn_is_a_crash(build: Build) {
    let dies = TurnFault::Dies {
        code: 3,
        stderr: "out of memory".into(),
    };
    for (text, parts) in [
        (dies, ["exited with code 3", "out of memory"]),
        (
            TurnFault::CutLine { code: 0 },
            ["exited with code 0", "in the middle of a turn"],
        ),
    ] {
        let played = Fixture::new(&broken(build, text)).played().await;

        played.assert_failed("crashed", &parts);
        assert_eq!(played.texts(), ["before"]);
    }
}

async fn a_silent_turn_times_out(build: Build) {
    for ignores_shutdown in [false, true] {
        let mut script = broken(build, TurnFault::Silence);
        if ignores_shutdown {
            script = script.with_fault(ProgramFault::IgnoresShutdown);
        }
        let mut texts: Vec<String> = Vec::new();
        // On a slow machine, the program may print nothing within the first limit.
        for limit in [1, 5, 30].map(Duration::from_secs) {
            let fixture = Fixture::new(&script);
            let mut options = fixture.options();
            options.program.silence_limit = limit;

            let played = fixture.played_with(options, fixture.spec([])).await;

            let expected = format!("sent nothing for {limit:?}");
            played.assert_failed("timeout", &[expected.as_str()]);
            texts = played.texts().into_iter().map(str::to_owned).collect();
            if !texts.is_empty() {
                break;
            }
        }
        assert_eq!(texts, ["before"]);
    }
}

async fn the_longest_line_is_read_and_a_longer_one_is_an_error(build: Build) {
    let long = |bytes| Fixture::new(&broken(build, TurnFault::LongLine { bytes }));

    // The limit applies to lines without their line ending.
    let longest = long(LineReader::LIMIT + 1).played().await;
    let too_long = long(LineReader::LIMIT + 2).played().await;

    let lengths: Vec<usize> = longest.texts().iter().map(|text| text.len()).collect();
    assert_eq!(lengths.len(), 3);
    assert!(lengths[1] > LineReader::LIMIT - 1024, "{lengths:?}");
    assert!(longest.end().is_ok(), "{:?}", longest.error);
    too_long.assert_failed("protocol", &["a line of more than 67108864 bytes"]);
    assert_eq!(too_long.texts(), ["before"]);
}

async fn a_flood_is_read_to_its_end(build: Build) {
    let lines = 20_000;

    let played = Fixture::new(&broken(build, TurnFault::Flood { lines }))
        .played()
        .await;

    assert_eq!(played.texts().len(), lines + 2);
    assert!(played.end().is_ok(), "{:?}", played.error);
}

async fn stderr_flood_does_not_block_the_turn(build: Build) {
    let flood = TurnFault::StderrFlood { bytes: 4_000_000 };

    let played = Fixture::new(&broken(build, flood)).played().await;

    played.assert_completed(&["before", "after"]);
}

async fn faults_can_be_combined(build: Build) {
    let at = |lines, turn_fault| ProgramFault::At {
        trigger: FaultTrigger::Lines(lines),
        turn_fault,
    };
    let script = recorded(build, "c01_mcp_ok")
        .with_fault(at(3, unknown_messages()))
        .with_fault(at(9, TurnFault::UnknownRequest))
        .with_fault(at(9, TurnFault::Garbage(vec![0xff])))
        .with_fault(ProgramFault::Slow {
            chunk: 500,
            pause_ms: 1,
        });
    let fixture = Fixture::new(&script);

    let spec = fixture.spec([SetStatus::tool()]);
    let played = fixture.played_with(fixture.options(), spec).await;

    assert_eq!(played.end(), Ok(&SessionOutcome::Completed), "{played:?}");
    let is_answer = |event: &StreamEvent| matches!(event, StreamEvent::ToolResponse { .. });
    assert_eq!(played.events.iter().filter(|it| is_answer(it)).count(), 1);
}

on_both_builds![
    slow_lines_are_put_together,
    garbage_between_lines_is_passed_over,
    unknown_messages_are_passed_over,
    an_unknown_request_gets_an_answer,
    death_in_a_turn_is_a_crash,
    a_silent_turn_times_out,
    the_longest_line_is_read_and_a_longer_one_is_an_error,
    a_flood_is_read_to_its_end,
    stderr_flood_does_not_block_the_turn,
    faults_can_be_combined,
];
