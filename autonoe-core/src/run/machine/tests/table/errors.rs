//! Error counting: which session ends count as errors, and which reset the count.

use super::*;

fn errors_allowed(result: &SessionReport, after: LedgerView) -> bool {
    let limits = RunLimits {
        max_retries: 0,
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, LedgerView::default());
    let next = end(&mut machine, &action, result.clone(), after);
    !matches!(
        next,
        RunAction::Finish {
            exit: ExitReason::MaxRetriesExceeded { .. }
        }
    )
}

// Shows: spec/3.4/retry-on-error-count-on
#[test]
fn failed_sessions_count_as_errors() {
    let silent = SessionReport {
        activity: Activity::None,
        ..completed()
    };
    for (case, result, after) in [
        ("execution_error", execution_error(), ledger(1, 0, 0)),
        (
            "budget of a session",
            result(SessionOutcome::BudgetExceeded),
            ledger(1, 0, 0),
        ),
        (
            "no end",
            failed(Failure::retryable("no_end", "")),
            ledger(1, 0, 0),
        ),
        ("was silent and did nothing", silent, ledger(1, 0, 0)),
        ("planned nothing", completed(), LedgerView::default()),
        (
            "planned nothing in all turns",
            result(SessionOutcome::MaxTurns),
            LedgerView::default(),
        ),
    ] {
        assert!(!errors_allowed(&result, after), "{case} was not counted");
    }
}

// Shows: spec/3.4/retry-quota-is-no-error
#[test]
fn sessions_without_a_failure_do_not_count_as_errors() {
    for (case, result, after) in [
        ("completed", completed(), ledger(1, 0, 0)),
        (
            "max_turns",
            result(SessionOutcome::MaxTurns),
            ledger(1, 0, 0),
        ),
        (
            "interrupted",
            result(SessionOutcome::Interrupted),
            ledger(1, 0, 0),
        ),
        ("quota", quota(None), ledger(1, 0, 0)),
    ] {
        assert!(errors_allowed(&result, after), "{case} was counted");
    }
}

// Shows: spec/3.4/retry-on-error-count-on, spec/3.4/retry-reset
#[test]
fn only_a_completed_session_resets_the_count() {
    for (ended, resets) in [
        (completed(), true),
        (result(SessionOutcome::MaxTurns), false),
        (result(SessionOutcome::BudgetExceeded), false),
    ] {
        let limits = RunLimits {
            max_retries: 1,
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));
        let action = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));
        let action = end(&mut machine, &action, ended.clone(), ledger(1, 0, 0));
        let over = matches!(action, RunAction::Finish { .. });

        let over = over || {
            let action = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));
            matches!(action, RunAction::Finish { .. })
        };

        assert_eq!(over, !resets, "{ended:?}");
    }
}

#[test]
fn a_requested_delay_replaces_a_shorter_pause() {
    let limits = RunLimits {
        pause: Duration::from_secs(3),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));
    let mut error = Failure::retryable("overloaded", "later");
    error.retry_after = Some(Duration::from_secs(60));

    let wait = end(&mut machine, &action, failed(error), ledger(1, 0, 0));

    assert_eq!(
        wait,
        RunAction::Wait {
            reason: WaitReason::RetryAfter,
            until: at(61)
        }
    );
}

// Shows: interfaces/agent-client/delay-between-sessions-default-3000
// Shows: interfaces/session-runner/option-delay-between-sessions
#[test]
fn sessions_are_three_seconds_apart_by_default() {
    let (mut machine, action) = started(RunLimits::new(Mode::Run), ledger(1, 0, 0));

    let wait = end(&mut machine, &action, completed(), ledger(1, 0, 0));

    assert_eq!(
        wait,
        RunAction::Wait {
            reason: WaitReason::Pause,
            until: at(4)
        }
    );
}
