//! Limit overrides of a resumed run.

use super::*;

/// Returns a machine in its third session. Each of the first two cost a quarter of a dollar; the
/// second one ended with an error.
fn in_session_3(limits: RunLimits) -> RunMachine {
    let cost = CostTotal::known(CostUsd::from_cents(25));
    let (mut machine, first) = started(limits, LedgerView::default());
    let planned = SessionReport {
        cost,
        ..completed()
    };
    let second = end(&mut machine, &first, planned, ledger(3, 0, 0));
    let broke = SessionReport {
        cost,
        ..execution_error()
    };
    let third = end(&mut machine, &second, broke, ledger(3, 1, 0));
    assert!(matches!(third, RunAction::StartSession(_)), "{third:?}");
    machine
}

/// Resumes at second 100, with two of three deliverables passed.
fn limits_changed(limits: LimitOverrides) -> RunFact {
    RunFact::LimitsChanged {
        at: at(100),
        limits,
        ledger: ledger(3, 2, 0),
    }
}

fn budget(budget: Budget) -> LimitOverrides {
    LimitOverrides {
        budget,
        ..LimitOverrides::default()
    }
}

fn cents(cents: u64) -> LimitOverrides {
    budget(Budget::default().with_cost(CostUsd::from_cents(cents)))
}

fn iterations(max: u32) -> LimitOverrides {
    LimitOverrides {
        max_iterations: Some(max),
        ..LimitOverrides::default()
    }
}

fn retries(max: u32) -> LimitOverrides {
    LimitOverrides {
        max_retries: Some(max),
        ..LimitOverrides::default()
    }
}

fn seconds(seconds: u64) -> LimitOverrides {
    budget(Budget::default().with_time(Duration::from_secs(seconds)))
}

// Shows: beyond/limits-that-are-given-when
#[test]
fn a_resumed_run_ends_at_a_new_limit_and_continues_below_it() {
    for (limits, code) in [
        (iterations(1), Some("max_iterations")),
        (iterations(2), Some("max_iterations")),
        (iterations(3), None),
        (cents(25), Some("budget_exceeded")),
        (cents(50), Some("budget_exceeded")),
        (cents(51), None),
        (retries(0), Some("max_retries_exceeded")),
        (retries(1), None),
        // Time counts from the resumption, so some is always left.
        (seconds(1), None),
        (LimitOverrides::default(), None),
    ] {
        let mut machine = in_session_3(super::limits(Mode::Run));

        let action = machine.apply(limits_changed(limits.clone()));

        match code {
            Some(code) => assert_eq!(exit(&action).code(), code, "{limits:?}"),
            None => {
                assert_eq!(action, RunAction::Continue, "{limits:?}");
                let RunAction::StartSession(plan) = machine.action() else {
                    panic!("{limits:?}: {:?}", machine.action());
                };
                assert_eq!(plan.number, 3, "{limits:?}");
            }
        }
    }
}

#[test]
fn a_run_that_ends_counts_the_lost_session_as_unknown_and_the_ledger_as_it_is_now() {
    let mut machine = in_session_3(limits(Mode::Run));

    let action = machine.apply(limits_changed(iterations(1)));

    let report = machine.report(&RunId::new("r"), exit(&action).clone(), at(100));
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((report.iterations, reported.passed), (2, 2));
    assert_eq!(report.cost.known_usd, CostUsd::from_cents(50));
    assert_eq!(report.cost.unknown_parts, 1);
}

#[test]
fn completed_ledger_passes_despite_lowered_limits() {
    let mut machine = in_session_3(limits(Mode::Run));

    let action = machine.apply(RunFact::LimitsChanged {
        at: at(100),
        limits: iterations(1),
        ledger: ledger(3, 3, 0),
    });

    assert_eq!(exit(&action), &ExitReason::AllPassed);
}

#[test]
fn a_rerun_session_gets_the_remainder_of_the_new_limits() {
    let started_with = RunLimits {
        budget: Budget::default()
            .with_cost(CostUsd::from_cents(60))
            .with_time(Duration::from_secs(30)),
        ..limits(Mode::Run)
    };
    let mut machine = in_session_3(started_with);

    let _ = machine.apply(limits_changed(LimitOverrides {
        budget: Budget::default()
            .with_cost(CostUsd::from_cents(200))
            .with_time(Duration::from_secs(60)),
        ..LimitOverrides::default()
    }));

    let RunAction::StartSession(plan) = machine.action() else {
        panic!("{:?}", machine.action());
    };
    assert_eq!(plan.budget.cost_usd, Some(CostUsd::from_cents(150)));
    assert_eq!(plan.deadline, Some(at(160)), "from this start");
    assert_eq!(plan.budget_at(at(130)).time, Some(Duration::from_secs(30)));
}

#[test]
fn limits_without_an_override_stay() {
    let started_with = RunLimits {
        max_iterations: Some(9),
        max_retries: 5,
        on_quota: OnQuota::Wait,
        budget: Budget::default().with_cost(CostUsd::from_cents(900)),
        ..limits(Mode::Sync)
    };
    let mut machine = RunMachine::new(started_with.clone());

    let _ = machine.apply(limits_changed(LimitOverrides {
        pause: Some(Duration::from_secs(7)),
        ..LimitOverrides::default()
    }));

    let expected = RunLimits {
        pause: Duration::from_secs(7),
        ..started_with
    };
    assert_eq!(machine.limits(), &expected);
}

#[test]
fn a_wait_continues_unless_it_is_useless_under_the_new_limits() {
    let stop = LimitOverrides {
        on_quota: Some(OnQuota::Stop),
        ..LimitOverrides::default()
    };
    for (limits, code) in [
        (iterations(1), Some("max_iterations")),
        (iterations(3), None),
        (stop, Some("quota_exceeded")),
        // The quota resets at second 9000.
        (seconds(60), Some("quota_wait_too_long")),
        (seconds(10_000), None),
        (cents(1), None),
    ] {
        let waits = RunLimits {
            on_quota: OnQuota::Wait,
            ..super::limits(Mode::Run)
        };
        let (mut machine, first) = started(waits, ledger(3, 0, 0));
        let second = end(&mut machine, &first, completed(), ledger(3, 1, 0));
        let back_at = quota(Some(at(9000)));
        let wait = end(&mut machine, &second, back_at, ledger(3, 1, 0));

        let action = machine.apply(limits_changed(limits.clone()));

        match code {
            Some(code) => assert_eq!(exit(&action).code(), code, "{limits:?}"),
            None => assert_eq!(
                (action, machine.action()),
                (RunAction::Continue, wait),
                "{limits:?}"
            ),
        }
    }
}

#[test]
fn a_run_that_is_held_stays_so_or_ends() {
    let (mut machine, first) = started(limits(Mode::Run), ledger(3, 0, 0));
    let _ = machine.apply(RunFact::PauseRequested);
    let hold = end(&mut machine, &first, completed(), ledger(3, 1, 0));
    assert_eq!(hold, RunAction::Hold);
    let mut other = machine.clone();

    assert_eq!(
        machine.apply(limits_changed(iterations(2))),
        RunAction::Continue
    );
    assert_eq!(machine.action(), RunAction::Hold);
    let last = other.apply(limits_changed(iterations(1)));
    assert_eq!(exit(&last), &ExitReason::MaxIterations);
}

#[test]
fn limit_overrides_before_the_start_apply_to_the_run() {
    let mut machine = RunMachine::new(limits(Mode::Run));

    assert_eq!(
        machine.apply(limits_changed(seconds(60))),
        RunAction::Continue
    );
    let first = machine.apply(RunFact::Started {
        at: at(100),
        ledger: ledger(3, 0, 0),
    });

    let RunAction::StartSession(plan) = first else {
        panic!("{first:?}");
    };
    assert_eq!(plan.deadline, Some(at(160)));
}

#[test]
fn a_run_that_has_ended_stays_ended() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(1, 1, 0));

    assert_eq!(machine.apply(limits_changed(iterations(9))), action);
}

#[test]
fn messages_of_a_session_that_is_not_rerun_are_reported() {
    let (mut machine, first) = started(limits(Mode::Run), ledger(2, 0, 0));
    for text in ["first", "second"] {
        let _ = machine.apply(RunFact::MessageQueued { text: text.into() });
        if text == "first" {
            let _ = end(&mut machine, &first, completed(), ledger(2, 0, 0));
        }
    }

    let last = machine.apply(limits_changed(iterations(1)));

    let report = machine.report(&RunId::new("r"), exit(&last).clone(), at(100));
    assert_eq!(report.undelivered_messages, ["first", "second"]);
}

#[test]
fn an_interrupted_and_then_lost_session_is_rerun() {
    for limits in [None, Some(iterations(9))] {
        let mut machine = in_session_3(super::limits(Mode::Run));
        assert_eq!(machine.apply(RunFact::Cancelled), RunAction::StopSession);

        if let Some(limits) = limits {
            assert_eq!(machine.apply(limits_changed(limits)), RunAction::Continue);
        }
        let action = machine.apply(RunFact::SessionLost { number: 3 });

        assert!(matches!(action, RunAction::StartSession(_)), "{action:?}");
    }
}
