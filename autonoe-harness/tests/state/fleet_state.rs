//! Tests of `SqliteMeta`: fleets, their members, leaders, decisions and accounts.

use autonoe_core::{Budget, CostUsd};
use autonoe_harness::budget::Account;
use autonoe_harness::state::{LeaderToken, SqliteMeta, StateError};
use autonoe_harness::strategy::{Decision, Fleet, MemberId, MemberReport, MemberState};
use autonoe_harness::{Allowance, FleetReport};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Creates an empty state. The folder lives as long as the returned guard.
async fn empty() -> (TempDir, SqliteMeta) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("meta_state.db");
    let meta = SqliteMeta::open(&path).await.expect("it opens");
    (dir, meta)
}

/// Creates a state with fleets of these names, created one second after another.
async fn with_fleets(names: &[&str]) -> (TempDir, SqliteMeta) {
    let (dir, meta) = empty().await;
    for (second, name) in (0..).zip(names) {
        create(&meta, name, &spec(), second)
            .await
            .expect("it is kept");
    }
    (dir, meta)
}

/// Returns a time, `seconds` after a fixed start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::new(1_790_000_000 + seconds, 123_456_789).expect("a time")
}

fn spec() -> Value {
    json!({"strategy": {"type": "race"}, "share": 0.1, "members": ["codex", "claude"]})
}

/// Records a fleet with the members `b` and `a`.
async fn create(
    meta: &SqliteMeta,
    fleet: &str,
    spec: &Value,
    second: i64,
) -> Result<(), StateError> {
    let members = ["b", "a"].map(MemberId::new);
    meta.create_fleet(fleet, spec, &members, at(second)).await
}

async fn lead(meta: &SqliteMeta, fleet: &str, second: i64) -> LeaderToken {
    let lead = meta.acquire_leadership(fleet, at(second)).await;
    lead.expect("the fleet exists")
}

fn ended(id: &MemberId, progress: f64) -> MemberState {
    let mut result = MemberReport::failure(id.clone(), "no \u{2014} \"really\"");
    result.progress = progress;
    let result = Box::new(result);
    MemberState::Ended { place: 0, result }
}

fn report(success: bool) -> FleetReport {
    let (a, b) = (MemberId::new("a"), MemberId::new("b"));
    let mut fleet = Fleet::new([a.clone(), b]);
    fleet.mark_running(&a);
    fleet.record_result(MemberReport::success(a.clone(), "done"));
    let decision = Decision {
        success,
        winner: success.then_some(a),
        output: None,
    };
    FleetReport::new("race", &fleet, decision)
}

fn account(cents: u64) -> Account {
    let money = Budget::default().with_cost(CostUsd::from_cents(cents));
    Account::new(Allowance::new(money))
}

fn assert_conflict<T: std::fmt::Debug>(done: &Result<T, StateError>) {
    assert!(matches!(done, Err(StateError::Conflict(_))), "{done:?}");
}

fn assert_unknown<T: std::fmt::Debug>(done: &Result<T, StateError>) {
    assert!(matches!(done, Err(StateError::Unknown(_))), "{done:?}");
}

fn assert_fenced<T: std::fmt::Debug>(done: &Result<T, StateError>) {
    assert!(matches!(done, Err(StateError::Fenced { .. })), "{done:?}");
}

// Shows: fleets/state/meta
#[tokio::test]
async fn a_fleet_is_stored_once_as_it_was_planned() {
    let (_dir, meta) = with_fleets(&["z", "a", "z"]).await;
    let mut other = spec();
    other["members"][0] = json!("gemini");
    assert_conflict(&create(&meta, "z", &other, 3).await);
    for fleet in ["z", "new"] {
        let twice = ["b", "b"].map(MemberId::new);
        let refused = meta.create_fleet(fleet, &spec(), &twice, at(3)).await;
        assert!(
            matches!(refused, Err(StateError::Invalid(_))),
            "{refused:?}"
        );
    }

    let fleets = meta.fleets().await.expect("readable");

    let orders = fleets
        .iter()
        .map(|fleet| (fleet.id.as_str(), fleet.spec.clone()));
    assert_eq!(orders.collect::<Vec<_>>(), [("z", spec()), ("a", spec())]);
    let members: Vec<_> = fleets[0].member_ids().map(MemberId::as_str).collect();
    assert_eq!(members, ["b", "a"]);
    assert_eq!(fleets[0].created_at, at(0));
    let states = fleets[0].members.iter().map(|member| &member.state);
    let states: Vec<_> = states.collect();
    assert_eq!(states, [&MemberState::Waiting, &MemberState::Waiting]);
    let alone = meta.fleet("a").await.expect("readable");
    assert_eq!(alone.as_ref(), fleets.get(1));
    assert_eq!(meta.fleet("x").await.expect("readable"), None);
}

#[tokio::test]
async fn the_states_of_members_and_the_result_of_the_fleet_are_kept() {
    let (_dir, meta) = with_fleets(&["f"]).await;
    let lead = lead(&meta, "f", 1).await;
    let (a, b) = (MemberId::new("a"), MemberId::new("b"));
    let ended = ended(&a, 0.1 + 0.2);
    let states = [&MemberState::Running, &ended, &ended];
    for (second, state) in (2..).zip(states) {
        let set = meta.set_member(&lead, &a, state, at(second)).await;
        set.expect("it is kept");
    }
    let running = MemberState::Running;
    assert_conflict(&meta.set_member(&lead, &a, &running, at(5)).await);
    let unknown = MemberId::new("nobody");
    assert_unknown(&meta.set_member(&lead, &unknown, &ended, at(5)).await);

    for second in [6, 7] {
        let finished = meta.finish_fleet(&lead, &report(true), at(second)).await;
        finished.expect("it is kept");
    }
    assert_conflict(&meta.finish_fleet(&lead, &report(false), at(8)).await);
    assert_conflict(&meta.set_member(&lead, &b, &running, at(8)).await);

    let fleet = meta.fleet("f").await.expect("readable");
    let fleet = fleet.expect("it is there");
    assert_eq!(fleet.members[1].state, ended);
    assert_eq!(fleet.members[0].state, MemberState::Waiting);
    assert_eq!(fleet.result, Some(report(true)));
}

#[tokio::test]
async fn writes_of_an_older_epoch_are_refused() {
    let (_dir, meta) = with_fleets(&["f", "g"]).await;
    let old = lead(&meta, "f", 1).await;
    let of_other_fleet = lead(&meta, "g", 1).await;
    let new = lead(&meta, "f", 2).await;
    assert!(new.epoch > old.epoch, "{new:?} after {old:?}");
    let (a, running) = (MemberId::new("a"), MemberState::Running);

    assert_fenced(&meta.set_member(&old, &a, &running, at(3)).await);
    assert_fenced(&meta.append_decision(&old, &json!(1), at(3)).await);
    assert_fenced(&meta.save_accounts(&old, &account(1), at(3)).await);
    assert_fenced(&meta.finish_fleet(&old, &report(true), at(3)).await);

    for leader in [&new, &of_other_fleet] {
        let set = meta.set_member(leader, &a, &running, at(4)).await;
        set.expect("it leads");
    }
    assert_eq!(meta.decisions("f").await.expect("readable"), []);
    assert_unknown(&meta.acquire_leadership("nobody", at(5)).await);
}

#[tokio::test]
async fn decisions_are_numbered_and_accounts_are_replaced_per_fleet() {
    let (_dir, meta) = with_fleets(&["f", "g"]).await;
    for fleet in ["f", "g"] {
        assert_eq!(meta.accounts(fleet).await.expect("readable"), None);
        let lead = lead(&meta, fleet, 1).await;
        for number in 1..=3 {
            let decision = json!({"start": number});
            let appended = meta.append_decision(&lead, &decision, at(2)).await;
            assert_eq!(appended.expect("it is kept"), number);
            let saved = meta.save_accounts(&lead, &account(number), at(2)).await;
            saved.expect("it is kept");
        }
    }

    let decisions = meta.decisions("f").await.expect("readable");

    let values: Vec<_> = decisions.iter().map(|one| one.decision.clone()).collect();
    let expected = [1, 2, 3].map(|number| json!({"start": number}));
    assert_eq!(values, expected);
    assert_eq!(decisions[2].at, at(2));
    let accounts = meta.accounts("g").await.expect("readable");
    assert_eq!(accounts, Some(account(3)));
}
