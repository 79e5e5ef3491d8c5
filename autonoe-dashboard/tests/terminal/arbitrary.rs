//! Property tests: any fleet can be drawn.

use std::time::Duration;

use autonoe_core::CostUsd;
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_dashboard::terminal::{Key, ViewState, draw, press};
use autonoe_dashboard::{
    AlertLine, AlertSeverity, Dashboard, FleetPhase, MemberRow, MemberRowStatus, Progress,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn status() -> impl Strategy<Value = MemberRowStatus> {
    use MemberRowStatus::{Completed, Failed, Paused, Pending, Running, Stopped};
    proptest::sample::select(vec![Completed, Failed, Paused, Pending, Running, Stopped])
}

fn alert() -> impl Strategy<Value = AlertLine> {
    use AlertSeverity::{Critical, Error, Info, Success, Warning};
    let severity = proptest::sample::select(vec![Critical, Error, Info, Success, Warning]);
    let texts = (
        any::<String>(),
        any::<String>(),
        option::of(any::<String>()),
    );
    (severity, texts, -9_999_999_999_i64..9_999_999_999).prop_map(
        |(severity, (kind, message, member), seconds)| {
            let at = jiff::Timestamp::from_second(seconds).expect("in range");
            let alert = AlertLine::new(severity, kind, message, at);
            match member {
                Some(member) => alert.member(member),
                None => alert,
            }
        },
    )
}

fn a_member() -> impl Strategy<Value = MemberRow> {
    let texts = (
        any::<String>(),
        any::<String>(),
        option::of(any::<String>()),
    );
    let more = (option::of(any::<String>()), vec(any::<String>(), 0..6));
    let figures = (
        any::<f64>(),
        any::<u32>(),
        any::<u64>(),
        any::<u32>(),
        any::<u64>(),
    );
    (texts, more, status(), figures, option::of(alert())).prop_map(
        |((id, backend, model), (text, log), status, figures, last_alert)| {
            let (progress, iteration, picos, unknown_parts, tokens) = figures;
            let mut member = MemberRow::new(id, backend);
            member.model = model;
            member.task = text.clone();
            member.error = text;
            member.log = log;
            member.status = status;
            member.progress = Progress::new(progress);
            member.iteration = iteration;
            member.cost = CostTotal {
                known_usd: CostUsd::from_picos(picos),
                unknown_parts,
            };
            member.tokens = TokenUsage {
                input: tokens,
                output: tokens,
                ..TokenUsage::default()
            };
            member.last_alert = last_alert;
            member
        },
    )
}

fn dashboard() -> impl Strategy<Value = Dashboard> {
    let texts = (any::<String>(), any::<String>());
    (
        texts,
        vec(a_member(), 0..12),
        vec(alert(), 0..6),
        any::<u64>(),
    )
        .prop_map(|((objective, strategy), members, alerts, elapsed)| {
            let mut fleet = Dashboard::new(objective, strategy).with_members(members);
            fleet.alerts = alerts;
            fleet.phase = FleetPhase::Running;
            fleet.elapsed = Duration::from_secs(elapsed);
            fleet
        })
}

fn key() -> impl Strategy<Value = Key> {
    use Key::{Char, Down, End, Enter, Escape, Home, PageDown, PageUp, Up};
    let moves = vec![Down, End, Enter, Escape, Home, PageDown, PageUp, Up];
    let letters = ['p', 'r', 's', 'k', 'y', 'n', '?', 'x'].map(Char);
    proptest::sample::select([moves, letters.to_vec()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_fleet_is_drawn_in_any_view_and_area_without_escape_sequences(
        before in dashboard(),
        after in dashboard(),
        keys in vec(key(), 0..6),
        (width, height) in (1_u16..180, 1_u16..50),
    ) {
        let state = keys.iter().fold(ViewState::default(), |state, key| {
            press(*key, &before, &state).0
        });
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("it has cells");

        for fleet in [&before, &after] {
            terminal.draw(|frame| draw(frame, fleet, &state)).expect("it is drawn");

            let cells = terminal.backend().buffer().content();
            let obeyed = cells.iter().find(|cell| cell.symbol().contains(char::is_control));
            prop_assert!(obeyed.is_none(), "{obeyed:?}");
        }
    }

    #[test]
    fn any_fleet_survives_a_json_round_trip(fleet in dashboard()) {
        let mut fleet = fleet;
        // JSON has whole milliseconds that fit in 64 bits.
        fleet.elapsed = fleet.elapsed.min(Duration::from_millis(u64::MAX / 2));

        let json = serde_json::to_string(&fleet).expect("it serialises");
        let read: Dashboard = serde_json::from_str(&json).expect("it is read");

        prop_assert_eq!(read, fleet);
    }
}
