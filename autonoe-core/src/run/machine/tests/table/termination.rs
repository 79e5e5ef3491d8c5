//! Specification 3.4: termination conditions, in the order of the design.

use super::*;

// Shows: spec/3.4/user-interrupt-at-once-before, spec/3.4/order
#[test]
fn an_interrupt_takes_precedence_over_a_finished_ledger() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));

    assert_eq!(machine.apply(RunFact::Cancelled), RunAction::StopSession);
    let last = end(&mut machine, &action, completed(), ledger(1, 1, 0));

    assert_eq!(exit(&last), &ExitReason::Interrupted);
}

// Shows: spec/3.4/user-interrupt-at-once-before
#[test]
fn interrupt_ends_a_wait_and_a_hold_at_once() {
    let waits = RunLimits {
        on_quota: OnQuota::Wait,
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(waits, ledger(1, 0, 0));
    let wait = end(
        &mut machine,
        &action,
        quota(Some(at(9000))),
        ledger(1, 0, 0),
    );
    assert!(matches!(wait, RunAction::Wait { .. }), "{wait:?}");

    assert_eq!(
        exit(&machine.apply(RunFact::Cancelled)),
        &ExitReason::Interrupted
    );

    let mut machine = RunMachine::new(limits(Mode::Run));
    assert_eq!(machine.apply(RunFact::PauseRequested), RunAction::Continue);
    let hold = machine.apply(RunFact::Started {
        at: at(0),
        ledger: ledger(1, 0, 0),
    });
    assert_eq!(hold, RunAction::Hold);

    assert_eq!(
        exit(&machine.apply(RunFact::Cancelled)),
        &ExitReason::Interrupted
    );
}

// Shows: spec/3.4/all-achievable-passed, spec/3.4/order
#[test]
fn all_achievable_passed_wins_over_quota() {
    for on_quota in [OnQuota::Stop, OnQuota::Wait] {
        let limits = RunLimits {
            on_quota,
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(2, 1, 0));

        let last = end(&mut machine, &action, quota(None), ledger(2, 2, 0));

        assert_eq!(exit(&last), &ExitReason::AllPassed);
    }
}

// Shows: spec/3.4/all-achievable-passed
#[test]
fn passed_and_blocked_together_are_all_achievable_passed() {
    let (_, action) = started(limits(Mode::Run), ledger(3, 2, 1));

    assert_eq!(exit(&action), &ExitReason::AllPassed);
}

// Shows: spec/3.4/all-blocked
#[test]
fn all_blocked_ends_the_run() {
    let (_, action) = started(limits(Mode::Run), ledger(2, 0, 2));

    assert_eq!(exit(&action), &ExitReason::AllBlocked);
}

// Shows: spec/3.4/quota-exceeded-no-wait
#[test]
fn a_quota_ends_the_run_unless_it_is_configured_to_wait() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));

    let last = end(
        &mut machine,
        &action,
        quota(Some(at(9000))),
        ledger(1, 0, 0),
    );

    assert_eq!(exit(&last), &ExitReason::QuotaExceeded);
}

// Shows: spec/3.4/quota-exceeded-no-wait
#[test]
fn quota_takes_precedence_over_budget_and_max_iterations() {
    let limits = RunLimits {
        max_iterations: Some(1),
        budget: Budget::default().with_cost(CostUsd::from_cents(1)),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));
    let spent = SessionReport {
        cost: CostTotal::known(CostUsd::from_cents(5)),
        ..quota(None)
    };

    let last = end(&mut machine, &action, spent, ledger(1, 0, 0));

    assert_eq!(exit(&last), &ExitReason::QuotaExceeded);
}

// Shows: spec/3.4/quota-exceeded-wait, spec/3.4/iterations
#[test]
fn a_known_reset_is_waited_for_and_is_no_iteration_and_no_error() {
    let limits = RunLimits {
        on_quota: OnQuota::Wait,
        max_iterations: Some(1),
        max_retries: 0,
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));

    let wait = end(
        &mut machine,
        &action,
        quota(Some(at(9000))),
        ledger(1, 0, 0),
    );
    assert_eq!(
        wait,
        RunAction::Wait {
            reason: WaitReason::Quota,
            until: at(9000)
        }
    );
    let next = wait_over(&mut machine, at(9000));

    assert_eq!(instruction(&next), &InstructionName::Coding);
    let last = end(&mut machine, &next, completed(), ledger(1, 0, 0));
    assert_eq!(exit(&last), &ExitReason::MaxIterations);
    let report = machine.report(&RunId::new("r"), exit(&last).clone(), at(9001));
    assert_eq!((report.iterations, report.sessions), (1, 2));
}

// Shows: spec/3.4/quota-exceeded-reset-unknown
#[test]
fn an_unknown_reset_backs_off_longer_each_time_and_starts_over_after_work() {
    let limits = RunLimits {
        on_quota: OnQuota::Wait,
        quota_backoff: QuotaBackoff {
            first: Duration::from_secs(10),
            longest: Duration::from_secs(15),
        },
        ..limits(Mode::Run)
    };
    let (mut machine, mut action) = started(limits, ledger(1, 0, 0));
    let mut waits = Vec::new();
    for spent in [true, true, true, false, true] {
        let ended = if spent { quota(None) } else { completed() };
        action = end(&mut machine, &action, ended, ledger(1, 0, 0));
        if let RunAction::Wait { reason, until } = action {
            waits.push((reason, until));
            action = wait_over(&mut machine, until);
        }
    }

    let backoff = |seconds: i64| (WaitReason::QuotaBackoff, at(1 + seconds));
    assert_eq!(waits, [backoff(10), backoff(15), backoff(15), backoff(10)]);
}

// Shows: interfaces/agent-client/delay-between-sessions-default-3000
// Shows: interfaces/session-runner/option-delay-between-sessions
#[test]
fn a_quota_wait_is_never_shorter_than_the_pause() {
    let (quota_reset, next_try) = (WaitReason::Quota, WaitReason::QuotaBackoff);
    for (resets_at, reason, until) in [
        (Some(at(2)), next_try, at(4)),
        (Some(at(3)), next_try, at(4)),
        (Some(at(4)), quota_reset, at(4)),
        (Some(at(5)), quota_reset, at(5)),
        // The backoff of one second.
        (None, next_try, at(4)),
    ] {
        let limits = RunLimits {
            on_quota: OnQuota::Wait,
            quota_backoff: QuotaBackoff {
                first: Duration::from_secs(1),
                longest: Duration::from_secs(1),
            },
            ..RunLimits::new(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));

        // The session ends at second 1.
        let wait = end(&mut machine, &action, quota(resets_at), ledger(1, 0, 0));

        assert_eq!(wait, RunAction::Wait { reason, until }, "{resets_at:?}");
    }
}

#[test]
fn a_delay_beyond_the_time_budget_is_not_waited_for() {
    let limits = RunLimits {
        budget: Budget::default().with_time(Duration::from_secs(3600)),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));
    let mut error = Failure::retryable("overloaded", "later");
    error.retry_after = Some(Duration::from_secs(36_000));

    let last = end(&mut machine, &action, failed(error), ledger(1, 0, 0));

    let budget = BudgetKind::Time;
    assert_eq!(exit(&last), &ExitReason::BudgetExceeded { budget });
}

// Shows: interfaces/session-runner/exit-reasons
#[test]
fn a_quota_wait_beyond_the_time_budget_ends_the_run_with_the_reset_time() {
    for (reset, expected) in [
        (
            Some(at(3600)),
            "the quota resets at 1970-01-12 14:46:40Z; the next session would start after the end of the time budget",
        ),
        (
            None,
            "the quota is spent; the next session would start after the end of the time budget",
        ),
    ] {
        let limits = RunLimits {
            on_quota: OnQuota::Wait,
            budget: Budget::default().with_time(Duration::from_secs(3600)),
            quota_backoff: QuotaBackoff {
                first: Duration::from_secs(7200),
                longest: Duration::from_secs(7200),
            },
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));

        let last = end(&mut machine, &action, quota(reset), ledger(1, 0, 0));

        let resets_at = reset;
        assert_eq!(exit(&last), &ExitReason::QuotaWaitTooLong { resets_at });
        assert_eq!(exit(&last).to_string(), expected);
    }
}

#[test]
fn the_exit_has_the_reset_time_also_when_the_pause_is_longer_than_the_wait() {
    // The session ends at second 1, and the next one could start at second 4.
    for (reset, known) in [
        (at(2), Some(at(2))),
        (at(4), Some(at(4))),
        // A reset that has passed says nothing about the next one.
        (at(1), None),
    ] {
        let limits = RunLimits {
            on_quota: OnQuota::Wait,
            budget: Budget::default().with_time(Duration::from_secs(4)),
            ..RunLimits::new(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));

        let last = end(&mut machine, &action, quota(Some(reset)), ledger(1, 0, 0));

        let resets_at = known;
        assert_eq!(exit(&last), &ExitReason::QuotaWaitTooLong { resets_at });
    }
}

#[test]
fn a_spent_time_budget_takes_precedence_over_a_quota_wait() {
    let limits = RunLimits {
        on_quota: OnQuota::Wait,
        budget: Budget::default().with_time(Duration::from_secs(1)),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));

    let last = end(
        &mut machine,
        &action,
        quota(Some(at(3600))),
        ledger(1, 0, 0),
    );

    assert_eq!(
        exit(&last),
        &ExitReason::BudgetExceeded {
            budget: BudgetKind::Time
        }
    );
}

// Shows: beyond/budget-spent
#[test]
fn budget_takes_precedence_over_max_iterations() {
    let limits = RunLimits {
        max_iterations: Some(1),
        budget: Budget::default().with_cost(CostUsd::from_cents(100)),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));
    let spent = SessionReport {
        cost: CostTotal::known(CostUsd::from_cents(100)),
        ..completed()
    };

    let last = end(&mut machine, &action, spent, ledger(1, 0, 0));

    assert_eq!(
        exit(&last),
        &ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
}

#[test]
fn a_session_that_was_stopped_for_the_budget_ends_the_run_even_if_its_cost_is_unknown() {
    let limits = RunLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(100)),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));
    let stopped = SessionReport::new(SessionEnd::BudgetSpent {
        budget: BudgetKind::Cost,
    });

    let last = end(&mut machine, &action, stopped, ledger(1, 0, 0));

    assert_eq!(
        exit(&last),
        &ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
}

// Shows: beyond/budget-spent
#[test]
fn no_session_starts_without_budget() {
    for (budget, kind) in [
        (Budget::default().with_cost(CostUsd::ZERO), BudgetKind::Cost),
        (Budget::default().with_tokens(0), BudgetKind::Tokens),
        (
            Budget::default().with_time(Duration::ZERO),
            BudgetKind::Time,
        ),
    ] {
        let limits = RunLimits {
            budget,
            ..limits(Mode::Run)
        };

        let (_, action) = started(limits, ledger(1, 0, 0));

        assert_eq!(exit(&action), &ExitReason::BudgetExceeded { budget: kind });
    }
}

#[test]
fn a_session_gets_the_remaining_budget() {
    let limits = RunLimits {
        budget: Budget::default()
            .with_cost(CostUsd::from_cents(100))
            .with_time(Duration::from_secs(60)),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));
    let spent = SessionReport {
        cost: CostTotal::known(CostUsd::from_cents(30)),
        ..completed()
    };

    let next = end(&mut machine, &action, spent, ledger(1, 0, 0));

    let RunAction::StartSession(plan) = next else {
        panic!("no session: {next:?}")
    };
    assert_eq!(plan.budget.cost_usd, Some(CostUsd::from_cents(70)));
    assert_eq!(plan.budget.time, Some(Duration::from_secs(59)));
}

// Shows: spec/3.4/max-iterations-reached
#[test]
fn max_iterations_takes_precedence_over_max_retries() {
    let limits = RunLimits {
        max_iterations: Some(1),
        max_retries: 0,
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));

    let last = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));

    assert_eq!(exit(&last), &ExitReason::MaxIterations);
}

// Shows: interfaces/session-runner/option-max-retries-default-3, spec/3.4/max-retries-exceeded
#[test]
fn one_error_more_than_max_retries_ends_the_run_with_the_last_error() {
    let (mut machine, mut action) = started(limits(Mode::Run), ledger(1, 0, 0));
    for _ in 0..3 {
        action = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));
        assert!(matches!(action, RunAction::StartSession(_)), "{action:?}");
    }

    let last = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));

    let error = Failure::retryable("execution_error", "it broke");
    assert_eq!(exit(&last), &ExitReason::MaxRetriesExceeded { error });
}

// Shows: beyond/permanent-error, spec/3.4/unlimited
#[test]
fn an_error_that_cannot_be_retried_ends_the_run_at_once() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));
    let error = Failure::permanent("authentication", "the key was refused");

    let last = end(
        &mut machine,
        &action,
        failed(error.clone()),
        ledger(1, 0, 0),
    );

    assert_eq!(exit(&last), &ExitReason::Failed { error });
}

#[test]
fn a_ledger_that_cannot_be_read_is_an_error_and_a_corrupt_one_ends_the_run() {
    let unavailable = Failure::retryable("ledger_unavailable", "busy");
    let corrupt = Failure::permanent("ledger_corrupt", "not JSON");
    let (mut machine, _) = started(limits(Mode::Run), ledger(1, 0, 0));
    let ended = |number, error: &Failure| RunFact::SessionEnded {
        at: at(1),
        number,
        result: completed(),
        ledger: Err(error.clone()),
    };

    let next = machine.apply(ended(1, &unavailable));
    assert!(matches!(next, RunAction::StartSession(_)), "{next:?}");

    let last = machine.apply(ended(2, &corrupt));
    assert_eq!(exit(&last), &ExitReason::Failed { error: corrupt });
}
