//! The end of a session, and its events until then.

use autonoe_claude::events::{FinishedSession, SessionPhase, Translator};
use autonoe_claude::outcome::{Exit, HostAction};
use autonoe_claude::wire::Line;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{CostUsd, StreamEvent};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
const IDLE: &str = r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#;
const RUNNING: &str = r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#;

fn result(cost: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":{cost}}}"#
    )
}

fn call(id: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}}}}"#
    )
}

fn answered(id: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]}}}}"#
    )
}

fn failed(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}","is_error":true}}]}}}}"#
    )
}

fn started(task: &str, call: &str) -> String {
    format!(
        r#"{{"type":"system","subtype":"task_started","task_id":"{task}","tool_use_id":"{call}","task_type":"local_bash"}}"#
    )
}

fn ended(task: &str) -> String {
    format!(
        r#"{{"type":"system","subtype":"task_notification","task_id":"{task}","status":"completed"}}"#
    )
}

fn listed(tasks: &[&str]) -> String {
    let tasks: Vec<String> = tasks
        .iter()
        .map(|task| format!(r#"{{"task_id":"{task}","task_type":"local_agent"}}"#))
        .collect();
    format!(
        r#"{{"type":"system","subtype":"background_tasks_changed","tasks":[{}]}}"#,
        tasks.join(",")
    )
}

/// A session that has received a prompt.
#[derive(Default)]
struct Session {
    translator: Translator,
    events: Vec<StreamEvent>,
}

impl Session {
    fn new() -> Self {
        let mut session = Self::default();
        session.translator.start_query();
        session
    }

    fn observe_text(&mut self, text: impl Into<String>) -> SessionPhase {
        let line = Line::from_text(text).expect("a line");
        self.translator.observe(&line.parse(), &mut self.events);
        self.translator.phase()
    }

    /// Feeds each line, and compares the state of the session after it.
    fn assert_phases<const N: usize>(&mut self, lines: [(&str, SessionPhase); N]) {
        for (line, expected) in lines {
            assert_eq!(self.observe_text(line), expected, "after {line}");
        }
    }

    fn finish(mut self, exit: Option<Exit>) -> (Vec<StreamEvent>, Result<SessionOutcome, String>) {
        let now = "2026-11-15T00:00:00Z".parse().expect("a time");
        let FinishedSession { events, end, .. } = self.translator.finish(exit, "", now);
        self.events.extend(events);
        let end = end.map_err(|error| error.to_string()).map(|end| match end {
            StreamEvent::End { outcome, cost, .. } => {
                self.events.push(StreamEvent::end(outcome.clone(), cost));
                outcome
            }
            other => panic!("{other:?} is no end"),
        });
        (self.events, end)
    }
}

use SessionPhase::{Over, Settling, Waiting, Working};

#[test]
fn a_result_with_no_task_is_the_end() {
    let mut session = Session::new();

    session.assert_phases([(INIT, Working), (&result("0.5"), Over)]);

    assert_eq!(session.finish(None).1, Ok(SessionOutcome::Completed));
}

#[test]
fn the_end_waits_for_a_task_and_for_the_turn_that_follows_it_and_counts_its_cost() {
    let mut session = Session::new();

    session.assert_phases([
        (INIT, Working),
        (&call("c"), Working),
        (&started("t", "c"), Working),
        (&answered("c"), Working),
        (&result("0.5"), Waiting),
        (&ended("t"), Settling),
        (INIT, Working),
        (&result("0.75"), Over),
    ]);

    let (events, end) = session.finish(None);
    assert_eq!(end, Ok(SessionOutcome::Completed));
    let cents = |cents| Some(CostUsd::from_cents(cents));
    let costs: Vec<Option<CostUsd>> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Usage { cost, .. } | StreamEvent::End { cost, .. } => Some(*cost),
            _ => None,
        })
        .collect();
    assert_eq!(costs, [cents(50), cents(25), cents(75)]);
}

#[test]
fn a_program_that_reports_its_state_is_over_when_it_is_idle_without_tasks() {
    let mut session = Session::new();

    session.assert_phases([
        (RUNNING, Working),
        (INIT, Working),
        (&call("c"), Working),
        (&started("t", "c"), Working),
        (&answered("c"), Working),
        (&result("0.5"), Waiting),
        (IDLE, Waiting),
        (&ended("t"), Settling),
        (RUNNING, Working),
        (INIT, Working),
        (&result("0.75"), Settling),
        (IDLE, Over),
    ]);
}

#[test]
fn a_turn_that_follows_at_once_is_not_missed_when_the_program_reports_its_state() {
    let mut session = Session::new();

    session.assert_phases([
        (RUNNING, Working),
        (INIT, Working),
        (&result("0.5"), Settling),
        (INIT, Working),
        (&result("0.75"), Settling),
        (IDLE, Over),
    ]);
}

#[test]
fn a_foreground_task_needs_no_further_turn() {
    let mut session = Session::new();

    session.assert_phases([
        (INIT, Working),
        (&call("c"), Working),
        (&started("t", "c"), Working),
        (&ended("t"), Working),
        (&answered("c"), Working),
        (&result("0.5"), Over),
    ]);
}

#[test]
fn tasks_missing_from_a_later_list_have_ended() {
    let mut session = Session::new();

    session.assert_phases([
        (INIT, Working),
        (&call("c"), Working),
        (&started("long", "c"), Working),
        (&listed(&["one", "two"]), Working),
        (&listed(&["two"]), Working),
    ]);
    let live: Vec<&str> = session
        .translator
        .turns()
        .tasks()
        .iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(live, ["long", "two"]);

    session.assert_phases([
        (&ended("long"), Working),
        (&answered("c"), Working),
        (&result("0.5"), Waiting),
        (&listed(&[]), Settling),
        (INIT, Working),
        (&result("0.5"), Over),
    ]);
}

#[test]
fn an_unknown_status_ends_no_task() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(started("t", "c"));

    session.observe_text(
        r#"{"type":"system","subtype":"task_updated","task_id":"t","patch":{"status":"pondering"}}"#,
    );

    assert_eq!(session.observe_text(result("0.5")), Waiting);
}

#[test]
fn output_of_a_sub_agent_between_turns_starts_no_turn() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(started("t", "c"));
    session.observe_text(result("0.5"));

    let phase = session.observe_text(
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hm"}]},"parent_tool_use_id":"c","subagent_type":"reviewer"}"#,
    );

    assert_eq!(phase, Waiting);
    assert_eq!(
        session.events.last(),
        Some(&StreamEvent::text("hm").by_agent("reviewer"))
    );
}

#[test]
fn an_interrupted_session_is_over_with_its_result_even_with_tasks() {
    let mut session = Session::new();
    session.observe_text(RUNNING);
    session.observe_text(INIT);
    session.observe_text(started("t", "c"));
    session.translator.record_stop(HostAction::Stopped);

    let phase = session.observe_text(
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":2,"terminal_reason":"aborted_tools","total_cost_usd":0.5}"#,
    );

    assert_eq!(phase, Over);
    assert_eq!(session.finish(None).1, Ok(SessionOutcome::Interrupted));
}

#[test]
fn a_failed_turn_ends_the_session_even_with_tasks() {
    for subtype in ["error_max_turns", "error_max_budget_usd", "success"] {
        let mut session = Session::new();
        session.observe_text(RUNNING);
        session.observe_text(INIT);
        session.observe_text(started("t", "c"));

        let phase = session.observe_text(format!(
            r#"{{"type":"result","subtype":"{subtype}","is_error":true,"total_cost_usd":0.5}}"#
        ));

        assert_eq!(phase, Over, "{subtype}");
    }
}

#[test]
fn an_interrupted_turn_is_not_completed_by_an_earlier_result() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(started("t", "c"));
    session.observe_text(result("0.5"));
    session.observe_text(ended("t"));
    session.observe_text(INIT);

    let (_, end) = session.finish(Some(Exit::Signal(9)));

    assert_eq!(
        end,
        Err("Claude Code was killed by signal 9 in the middle of a turn".into())
    );
}

#[test]
fn a_program_that_exits_while_a_task_runs_has_not_completed() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(started("t", "c"));
    session.observe_text(result("0.5"));

    let (_, end) = session.finish(Some(Exit::Code(0)));

    assert_eq!(
        end,
        Err("Claude Code exited with code 0 while 1 of its background tasks were running".into())
    );
}

#[test]
fn a_program_that_the_host_ends_while_a_task_runs_has_completed() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(started("t", "c"));
    session.observe_text(result("0.5"));
    session.translator.record_stop(HostAction::Stopped);

    assert_eq!(session.translator.phase(), Over);
    assert_eq!(
        session.finish(Some(Exit::Code(0))).1,
        Ok(SessionOutcome::Completed)
    );
}

#[test]
fn calls_without_a_result_get_one_at_the_end_in_their_order() {
    let mut session = Session::new();
    session.observe_text(INIT);
    for id in ["c3", "c1", "c2"] {
        session.observe_text(call(id));
    }
    session.observe_text(answered("c1"));
    session.observe_text(result("0.5"));

    let (events, _) = session.finish(None);

    let open: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolResponse {
                call_id,
                status: ToolStatus::Error,
                ..
            } => Some(call_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(open, ["c3", "c2"]);
}

#[test]
fn a_call_is_reported_once_and_answered_once() {
    let mut session = Session::new();
    session.observe_text(INIT);

    for line in [
        call("c"),
        call("c"),
        answered("c"),
        answered("c"),
        answered("other"),
    ] {
        session.observe_text(line);
    }

    assert_eq!(session.events.len(), 3, "{:?}", session.events);
}

#[test]
fn a_denied_call_is_reported_as_denied() {
    let rejected = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"no","is_error":true}]},"tool_result_meta":[{"id":"c","permission_decision":{"decision":"reject"}}]}"#;
    let by_the_host = |session: &mut Session| session.translator.record_denial("c");
    let by_the_program = |session: &mut Session| {
        session
            .observe_text(r#"{"type":"system","subtype":"permission_denied","tool_use_id":"c"}"#);
    };
    let unchanged = |_: &mut Session| {};
    type Before<'a> = &'a dyn Fn(&mut Session);
    let cases: [(Before<'_>, String, ToolStatus); 6] = [
        (&by_the_host, failed("c", "no"), ToolStatus::Denied),
        (&by_the_program, failed("c", "no"), ToolStatus::Denied),
        (&unchanged, rejected.to_owned(), ToolStatus::Denied),
        (
            &unchanged,
            failed("c", "Permission to use Bash has been denied"),
            ToolStatus::Denied,
        ),
        (&unchanged, failed("c", "exit code 1"), ToolStatus::Error),
        (&unchanged, answered("c"), ToolStatus::Ok),
    ];
    for (before, line, expected) in cases {
        let mut session = Session::new();
        session.observe_text(INIT);
        session.observe_text(call("c"));
        before(&mut session);

        session.observe_text(line.as_str());

        let last = session.events.last();
        let is_reported =
            matches!(last, Some(StreamEvent::ToolResponse { status, .. }) if *status == expected);
        assert!(is_reported, "{line}: {last:?}");
    }
}

#[test]
fn a_denied_call_that_ran_is_a_warning() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(call("c"));
    session.translator.record_denial("c");

    session.observe_text(answered("c"));

    assert!(session.events.iter().any(|event| matches!(
        event,
        StreamEvent::Warning { message, .. } if message ==
            "the call c was denied, but Claude Code ran it"
    )));
}

#[test]
fn text_of_the_program_is_not_text_of_the_agent() {
    let mut session = Session::new();
    session.observe_text(INIT);

    session.observe_text(
        r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"(no content)"}]}}"#,
    );
    session.observe_text(
        r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},"error":"server_error"}"#,
    );

    assert_eq!(session.events[1..], [StreamEvent::warning("API Error")]);
}

#[test]
fn an_interrupted_turn_has_an_unknown_cost() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.translator.record_stop(HostAction::Stopped);

    let (events, end) = session.finish(Some(Exit::Signal(15)));

    assert_eq!(end, Ok(SessionOutcome::Interrupted));
    let unknown = StreamEvent::end(SessionOutcome::Interrupted, None);
    assert_eq!(events.last(), Some(&unknown));
    let usage = StreamEvent::usage(autonoe_core::agent::TokenUsage::default(), None);
    assert!(events.contains(&usage), "{events:?}");
}

#[test]
fn a_second_prompt_starts_from_zero() {
    let mut session = Session::new();
    session.observe_text(INIT);
    session.observe_text(result("0.5"));

    session.translator.start_query();
    session.events.clear();
    session.assert_phases([(INIT, Working), (&result("0.75"), Over)]);

    let (events, _) = session.finish(None);
    assert!(matches!(events.first(), Some(StreamEvent::Started { .. })));
    let end = StreamEvent::end(SessionOutcome::Completed, Some(CostUsd::from_cents(25)));
    assert_eq!(events.last(), Some(&end));
}
