//! Conformance suite of coordinator state stores.

use std::sync::Arc;

use autonoe_core::{Budget, CostUsd};
use autonoe_testkit::conformance::{CheckOutcome, Checks, Conformance, Flaw};
use jiff::Timestamp;
use serde_json::json;

use crate::budget::{Account, Allowance};
use crate::state::{FleetPlan, MetaState, StateError};
use crate::strategy::{AggregatedReport, MemberId, MemberReport, MemberState};

/// Checks a [`MetaState`] against its contract. `empty` must return an empty store with each call.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_harness::state::{MetaState, SqliteMeta};
/// use autonoe_harness::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let empty = async || {
///     let meta = SqliteMeta::in_memory().await.expect("it opens");
///     Arc::new(meta) as Arc<dyn MetaState>
/// };
///
/// conformance::meta_state(&empty).await.assert();
/// # });
/// ```
pub async fn meta_state(empty: &impl AsyncFn() -> Arc<dyn MetaState>) -> Conformance {
    let mut checks = Checks::new("meta state");
    checks
        .run("a fleet is stored once, as it was planned", async {
            let store = empty().await;
            good(store.create_fleet(&plan("z"), at(0)).await)?;
            good(store.create_fleet(&plan("a"), at(1)).await)?;
            good(store.create_fleet(&plan("z"), at(2)).await)?;
            let mut other = plan("z");
            other.members[0].1 = json!({"cli": "gemini"});
            conflict(store.create_fleet(&other, at(3)).await)?;
            other.members[0] = other.members[1].clone();
            if !matches!(
                store.create_fleet(&other, at(3)).await,
                Err(StateError::Invalid(_))
            ) {
                return failed("two members share a name");
            }

            let fleets = good(store.fleets().await)?;
            let plans: Vec<_> = fleets.iter().map(|fleet| fleet.plan.clone()).collect();
            same("the fleets", &plans, &vec![plan("z"), plan("a")])?;
            same("its time", &fleets[0].created_at, &at(0))?;
            let waits = fleets[0].members.iter();
            let waits = waits.filter(|member| member.state == MemberState::Waiting);
            same("the waiting members", &waits.count(), &2)?;
            same(
                "alone",
                &good(store.fleet("a").await)?.as_ref(),
                &fleets.get(1),
            )?;
            same("an unknown fleet", &good(store.fleet("x").await)?, &None)
        })
        .await;
    checks
        .run(
            "the states of members and the result of the fleet are kept",
            async {
                let store = empty().await;
                good(store.create_fleet(&plan("f"), at(0)).await)?;
                let lead = good(store.acquire_lead("f", at(1)).await)?;
                let (a, b) = (MemberId::new("a"), MemberId::new("b"));
                let ended = ended(&a, 0.1 + 0.2);
                good(
                    store
                        .set_member(&lead, &a, &MemberState::Running, at(2))
                        .await,
                )?;
                good(store.set_member(&lead, &a, &ended, at(3)).await)?;
                good(store.set_member(&lead, &a, &ended, at(4)).await)?;
                conflict(
                    store
                        .set_member(&lead, &a, &MemberState::Running, at(5))
                        .await,
                )?;
                let nobody = MemberId::new("nobody");
                let unknown = store.set_member(&lead, &nobody, &ended, at(5)).await;
                if !matches!(unknown, Err(StateError::Unknown(_))) {
                    return failed(format!("an unknown member: {unknown:?}"));
                }
                good(store.finish_fleet(&lead, &result(true), at(6)).await)?;
                good(store.finish_fleet(&lead, &result(true), at(7)).await)?;
                conflict(store.finish_fleet(&lead, &result(false), at(8)).await)?;
                conflict(
                    store
                        .set_member(&lead, &b, &MemberState::Running, at(8))
                        .await,
                )?;

                let Some(fleet) = good(store.fleet("f").await)? else {
                    return failed("the fleet is missing");
                };
                same("the first", &fleet.members[1].state, &ended)?;
                same("the second", &fleet.members[0].state, &MemberState::Waiting)?;
                same("the result", &fleet.result, &Some(result(true)))
            },
        )
        .await;
    checks
        .run("writes of an older epoch are refused", async {
            let store = empty().await;
            good(store.create_fleet(&plan("f"), at(0)).await)?;
            good(store.create_fleet(&plan("g"), at(0)).await)?;
            let old = good(store.acquire_lead("f", at(1)).await)?;
            let apart = good(store.acquire_lead("g", at(1)).await)?;
            let new = good(store.acquire_lead("f", at(2)).await)?;
            if new.epoch <= old.epoch {
                return failed(format!("the epoch {} is not higher", new.epoch));
            }
            let (a, runs) = (MemberId::new("a"), MemberState::Running);
            fenced(store.set_member(&old, &a, &runs, at(3)).await)?;
            fenced(store.append_decision(&old, &json!(1), at(3)).await)?;
            fenced(store.save_accounts(&old, &accounts(1), at(3)).await)?;
            fenced(store.finish_fleet(&old, &result(true), at(3)).await)?;
            good(store.set_member(&new, &a, &runs, at(4)).await)?;
            good(store.set_member(&apart, &a, &runs, at(4)).await)?;
            same("decisions", &good(store.decisions("f").await)?, &Vec::new())?;
            match store.acquire_lead("nobody", at(5)).await {
                Err(StateError::Unknown(_)) => Ok(()),
                other => failed(format!("an unknown fleet: {other:?}")),
            }
        })
        .await;
    checks
        .run(
            "decisions are numbered and accounts are replaced, per fleet",
            async {
                let store = empty().await;
                for fleet in ["f", "g"] {
                    good(store.create_fleet(&plan(fleet), at(0)).await)?;
                    same("at first", &good(store.accounts(fleet).await)?, &None)?;
                    let lead = good(store.acquire_lead(fleet, at(1)).await)?;
                    for number in 1..=3 {
                        let decision = json!({"start": number});
                        let found = good(store.append_decision(&lead, &decision, at(2)).await)?;
                        same("the number", &found, &number)?;
                        let kept = accounts(i64::try_from(number).unwrap_or_default());
                        good(store.save_accounts(&lead, &kept, at(2)).await)?;
                    }
                }
                let decisions = good(store.decisions("f").await)?;
                let values: Vec<_> = decisions.iter().map(|one| one.decision.clone()).collect();
                let expected = vec![
                    json!({"start": 1}),
                    json!({"start": 2}),
                    json!({"start": 3}),
                ];
                same("the decisions", &values, &expected)?;
                same("the time", &decisions[2].at, &at(2))?;
                same(
                    "the accounts",
                    &good(store.accounts("g").await)?,
                    &Some(accounts(3)),
                )
            },
        )
        .await;
    checks.finish()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::new(1_790_000_000 + seconds, 123_456_789).unwrap_or_default()
}

fn plan(id: &str) -> FleetPlan {
    FleetPlan::new(id, json!({"strategy": {"type": "race"}, "share": 0.1}))
        .member(MemberId::new("b"), json!({"cli": "codex"}))
        .member(MemberId::new("a"), json!({"cli": "claude"}))
}

fn ended(id: &MemberId, progress: f64) -> MemberState {
    let mut result = MemberReport::failure(id.clone(), "no \u{2014} \"really\"");
    result.progress = progress;
    let result = Box::new(result);
    MemberState::Ended { place: 0, result }
}

fn result(success: bool) -> AggregatedReport {
    AggregatedReport {
        strategy: "race".to_owned(),
        success,
        results: vec![MemberReport::success(MemberId::new("a"), "done")],
        not_started: vec![MemberId::new("b")],
        winner: success.then(|| MemberId::new("a")),
        aggregated_output: None,
    }
}

fn accounts(cents: i64) -> Account {
    let cents = u64::try_from(cents).unwrap_or_default();
    let money = Budget::default().with_cost(CostUsd::from_cents(cents));
    Account::new(Allowance::new(money))
}

fn good<T>(done: Result<T, StateError>) -> CheckOutcome<T> {
    done.map_err(|error| Flaw::Failed(format!("the store returned an error: {error}")))
}

fn same<T: std::fmt::Debug + PartialEq>(what: &str, found: &T, expected: &T) -> CheckOutcome {
    if found == expected {
        Ok(())
    } else {
        failed(format!("{what}: {found:?} instead of {expected:?}"))
    }
}

fn fenced<T: std::fmt::Debug>(done: Result<T, StateError>) -> CheckOutcome {
    match done {
        Err(StateError::Fenced { .. }) => Ok(()),
        other => failed(format!("the old epoch is not refused: {other:?}")),
    }
}

fn conflict<T: std::fmt::Debug>(done: Result<T, StateError>) -> CheckOutcome {
    match done {
        Err(StateError::Conflict(_)) => Ok(()),
        other => failed(format!("the call is not refused: {other:?}")),
    }
}

fn failed<T>(what: impl Into<String>) -> CheckOutcome<T> {
    Err(Flaw::Failed(what.into()))
}
