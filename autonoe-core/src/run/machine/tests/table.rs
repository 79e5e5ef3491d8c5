//! The tables of the specification, in the order of the design.

use super::*;
use crate::domain::{Budget, BudgetKind, QuotaBackoff};

mod termination {
    //! 3.4, termination conditions, in the design's order.

    use super::*;

    #[test]
    fn interrupt_comes_before_a_finished_ledger() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));

        assert_eq!(machine.apply(RunFact::Cancelled), RunAction::StopSession);
        let last = end(&mut machine, &action, completed(), ledger(1, 1, 0));

        assert_eq!(exit(&last), &ExitReason::Interrupted);
    }

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

    #[test]
    fn passed_and_blocked_together_are_all_achievable_passed() {
        let (_, action) = started(limits(Mode::Run), ledger(3, 2, 1));

        assert_eq!(exit(&action), &ExitReason::AllPassed);
    }

    #[test]
    fn all_blocked_ends_the_run() {
        let (_, action) = started(limits(Mode::Run), ledger(2, 0, 2));

        assert_eq!(exit(&action), &ExitReason::AllBlocked);
    }

    #[test]
    fn quota_ends_the_run_unless_it_is_told_to_wait() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));

        let last = end(
            &mut machine,
            &action,
            quota(Some(at(9000))),
            ledger(1, 0, 0),
        );

        assert_eq!(exit(&last), &ExitReason::QuotaExceeded);
    }

    #[test]
    fn quota_comes_before_budget_and_max_iterations() {
        let limits = RunLimits {
            max_iterations: Some(1),
            budget: Budget::default().with_cost(CostUsd::from_cents(1)),
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));
        let spent = SessionResult {
            cost: CostTotal::known(CostUsd::from_cents(5)),
            ..quota(None)
        };

        let last = end(&mut machine, &action, spent, ledger(1, 0, 0));

        assert_eq!(exit(&last), &ExitReason::QuotaExceeded);
    }

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

    #[test]
    fn a_wait_beyond_the_time_budget_is_not_begun() {
        let limits = RunLimits {
            on_quota: OnQuota::Wait,
            budget: Budget::default().with_time(Duration::from_secs(3600)),
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

    #[test]
    fn budget_comes_before_max_iterations() {
        let limits = RunLimits {
            max_iterations: Some(1),
            budget: Budget::default().with_cost(CostUsd::from_cents(100)),
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));
        let spent = SessionResult {
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
        let stopped = SessionResult::new(SessionEnd::BudgetSpent {
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
    fn the_remainder_of_the_budget_goes_into_the_session() {
        let limits = RunLimits {
            budget: Budget::default()
                .with_cost(CostUsd::from_cents(100))
                .with_time(Duration::from_secs(60)),
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));
        let spent = SessionResult {
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

    #[test]
    fn max_iterations_comes_before_max_retries() {
        let limits = RunLimits {
            max_iterations: Some(1),
            max_retries: 0,
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));

        let last = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));

        assert_eq!(exit(&last), &ExitReason::MaxIterations);
    }

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
}

mod errors {
    //! What counts as an error, and what resets the count.

    use super::*;

    fn errors_allowed(result: &SessionResult, after: LedgerView) -> bool {
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

    #[test]
    fn these_sessions_count_as_errors() {
        let silent = SessionResult {
            activity: Activity::None,
            ..completed()
        };
        for (what, result, after) in [
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
            ("said and did nothing", silent, ledger(1, 0, 0)),
            ("planned nothing", completed(), LedgerView::default()),
            (
                "planned nothing in all turns",
                result(SessionOutcome::MaxTurns),
                LedgerView::default(),
            ),
        ] {
            assert!(!errors_allowed(&result, after), "{what} was not counted");
        }
    }

    #[test]
    fn these_sessions_do_not_count_as_errors() {
        for (what, result, after) in [
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
            assert!(errors_allowed(&result, after), "{what} was counted");
        }
    }

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
    fn the_delay_that_a_failure_asks_for_replaces_a_shorter_pause() {
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
}

mod session_loop {
    //! 9.1, session loop behaviour.

    use super::*;

    #[test]
    fn no_status_any_limit_uses_the_initializer() {
        for max_iterations in [None, Some(5)] {
            let limits = RunLimits {
                max_iterations,
                ..limits(Mode::Run)
            };

            let (_, action) = started(limits, LedgerView::default());

            assert_eq!(instruction(&action), &InstructionName::Initializer);
        }
    }

    #[test]
    fn none_passed_codes() {
        let (_, action) = started(limits(Mode::Run), ledger(3, 0, 0));

        assert_eq!(instruction(&action), &InstructionName::Coding);
    }

    #[test]
    fn partly_passed_codes() {
        let (_, action) = started(limits(Mode::Run), ledger(3, 1, 1));

        assert_eq!(instruction(&action), &InstructionName::Coding);
    }

    #[test]
    fn all_passed_already_ends_with_no_session_and_no_cost() {
        let (machine, action) = started(limits(Mode::Run), ledger(3, 3, 0));

        assert_eq!(exit(&action), &ExitReason::AllPassed);
        let report = machine.report(&RunId::new("r"), ExitReason::AllPassed, at(0));
        assert_eq!(
            (report.sessions, report.cost.exact()),
            (0, Some(CostUsd::ZERO))
        );
    }

    #[test]
    fn the_limit_ends_the_run_in_part() {
        let limits = RunLimits {
            max_iterations: Some(2),
            ..limits(Mode::Run)
        };
        let (mut machine, action) = started(limits, ledger(3, 0, 0));
        let action = end(&mut machine, &action, completed(), ledger(3, 1, 0));

        let last = end(&mut machine, &action, completed(), ledger(3, 2, 0));

        assert_eq!(exit(&last), &ExitReason::MaxIterations);
    }

    #[test]
    fn without_a_limit_it_goes_on_until_all_pass() {
        let (mut machine, mut action) = started(limits(Mode::Run), ledger(50, 0, 0));
        for passed in 1..50 {
            action = end(&mut machine, &action, completed(), ledger(50, passed, 0));
        }

        let last = end(&mut machine, &action, completed(), ledger(50, 50, 0));

        assert_eq!(last, finish(ExitReason::AllPassed));
    }
}

mod sync {
    //! 9.5, sync behaviour, and the phases of appendix A.

    use super::*;

    #[test]
    fn the_first_session_is_always_sync_and_the_next_ones_verify() {
        for before in [LedgerView::default(), ledger(2, 2, 0), verified(2, 2)] {
            let (mut machine, action) = started(limits(Mode::Sync), before);
            assert_eq!(instruction(&action), &InstructionName::Sync, "{before:?}");

            let next = end(&mut machine, &action, completed(), verified(3, 2));

            assert_eq!(instruction(&next), &InstructionName::Verify, "{before:?}");
        }
    }

    #[test]
    fn all_verified_ends_the_sync() {
        let (mut machine, action) = started(limits(Mode::Sync), LedgerView::default());
        let action = end(&mut machine, &action, completed(), verified(2, 0));
        let action = end(&mut machine, &action, completed(), verified(2, 1));

        let last = end(&mut machine, &action, completed(), verified(2, 2));

        assert_eq!(exit(&last), &ExitReason::AllVerified);
        let report = machine.report(&RunId::new("r"), ExitReason::AllVerified, at(2));
        assert_eq!((report.verified, report.verified_total), (2, 2));
    }

    #[test]
    fn an_empty_sync_is_an_error_and_never_all_verified() {
        let limits = RunLimits {
            max_retries: 1,
            ..limits(Mode::Sync)
        };
        let (mut machine, action) = started(limits, LedgerView::default());

        let again = end(&mut machine, &action, completed(), LedgerView::default());
        assert_eq!(instruction(&again), &InstructionName::Sync);
        let last = end(&mut machine, &again, completed(), LedgerView::default());

        assert_eq!(exit(&last).code(), "max_retries_exceeded");
    }

    #[test]
    fn a_sync_session_that_was_cut_short_is_done_again() {
        let (mut machine, action) = started(limits(Mode::Sync), verified(1, 1));

        let again = end(
            &mut machine,
            &action,
            result(SessionOutcome::MaxTurns),
            verified(2, 2),
        );

        assert_eq!(instruction(&again), &InstructionName::Sync);
    }

    #[test]
    fn a_sync_session_that_failed_or_ran_into_the_quota_is_done_again() {
        let limits = RunLimits {
            on_quota: OnQuota::Wait,
            ..limits(Mode::Sync)
        };
        let (mut machine, action) = started(limits, ledger(1, 0, 0));

        let again = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));
        assert_eq!(instruction(&again), &InstructionName::Sync);
        let wait = end(&mut machine, &again, quota(Some(at(60))), ledger(1, 0, 0));
        assert!(matches!(wait, RunAction::Wait { .. }), "{wait:?}");

        let again = wait_over(&mut machine, at(60));
        assert_eq!(instruction(&again), &InstructionName::Sync);
    }
}

mod deprecated_deliverables {
    //! 9.6, deprecated deliverables.

    use super::*;

    #[test]
    fn they_are_not_in_the_evaluation() {
        let counted = LedgerView {
            counts: LedgerCounts {
                total: 1,
                passed: 1,
                blocked: 0,
                deprecated: 4,
            },
            verified: 0,
        };

        let (_, action) = started(limits(Mode::Run), counted);

        assert_eq!(exit(&action), &ExitReason::AllPassed);
    }

    #[test]
    fn a_ledger_with_only_deprecated_ones_is_done() {
        let (_, action) = started(limits(Mode::Run), deprecated(2));
        assert_eq!(exit(&action), &ExitReason::AllPassed);

        let (mut machine, action) = started(limits(Mode::Sync), deprecated(2));
        let last = end(&mut machine, &action, completed(), deprecated(2));
        assert_eq!(exit(&last), &ExitReason::AllVerified);
    }
}

mod instructions {
    //! Appendix A.1, instruction selection.

    use super::*;

    #[test]
    fn the_table() {
        for (mode, ledger, planned, expected) in [
            (
                Mode::Run,
                LedgerView::default(),
                false,
                InstructionName::Initializer,
            ),
            (Mode::Run, ledger(1, 0, 0), false, InstructionName::Coding),
            (
                Mode::Sync,
                LedgerView::default(),
                false,
                InstructionName::Sync,
            ),
            (Mode::Sync, ledger(1, 0, 0), false, InstructionName::Sync),
            (Mode::Sync, ledger(1, 0, 0), true, InstructionName::Verify),
        ] {
            assert_eq!(Workflow::new(mode).instruction(&ledger, planned), expected);
        }
    }
}

mod persons {
    //! Pause, resume, instruct.

    use super::*;

    #[test]
    fn a_pause_holds_before_the_next_session_and_a_resume_goes_on() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(2, 0, 0));
        assert_eq!(machine.apply(RunFact::PauseRequested), RunAction::Continue);

        let hold = end(&mut machine, &action, completed(), ledger(2, 1, 0));
        assert_eq!(hold, RunAction::Hold);
        let next = resume(&mut machine, at(500));

        assert!(matches!(next, RunAction::StartSession(_)), "{next:?}");
    }

    #[test]
    fn a_paused_run_that_is_done_ends() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));
        let _ = machine.apply(RunFact::PauseRequested);

        let last = end(&mut machine, &action, completed(), ledger(1, 1, 0));

        assert_eq!(exit(&last), &ExitReason::AllPassed);
    }

    #[test]
    fn a_message_reaches_the_next_session_once() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(2, 0, 0));
        let _ = machine.apply(RunFact::Instructed {
            text: "be quick".into(),
        });

        let second = end(&mut machine, &action, completed(), ledger(2, 0, 0));
        let third = end(&mut machine, &second, completed(), ledger(2, 0, 0));

        let messages = |action: &RunAction| match action {
            RunAction::StartSession(plan) => plan.messages.clone(),
            other => panic!("no session: {other:?}"),
        };
        assert_eq!(messages(&second), ["be quick"]);
        assert_eq!(messages(&third), Vec::<String>::new());
    }

    #[test]
    fn a_message_is_told_again_when_the_agent_gave_no_sign_of_having_read_it() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(2, 0, 0));
        let _ = machine.apply(RunFact::Instructed {
            text: "first".into(),
        });
        let second = end(&mut machine, &action, completed(), ledger(2, 0, 0));
        let _ = machine.apply(RunFact::Instructed {
            text: "second".into(),
        });
        let broke = failed(Failure::retryable("crashed", "at the start"));

        let third = end(&mut machine, &second, broke, ledger(2, 0, 0));

        let RunAction::StartSession(plan) = third else {
            panic!("no session: {third:?}")
        };
        assert_eq!(plan.messages, ["first", "second"]);
    }
}

mod facts {
    //! Facts that do not fit.

    use super::*;

    #[test]
    fn a_session_that_was_not_asked_for_changes_nothing() {
        let (mut machine, _) = started(limits(Mode::Run), ledger(1, 0, 0));
        let before = machine.clone();
        let stray = |number| RunFact::SessionEnded {
            at: at(1),
            number,
            result: completed(),
            ledger: Ok(ledger(1, 1, 0)),
        };

        assert_eq!(machine.apply(stray(7)), RunAction::Continue);
        assert_eq!(wait_over(&mut machine, at(1)), RunAction::Continue);
        let again = RunFact::Started {
            at: at(2),
            ledger: ledger(9, 9, 0),
        };
        assert_eq!(machine.apply(again), RunAction::Continue);

        assert_eq!(machine, before);
    }

    #[test]
    fn a_wait_that_is_over_too_early_is_not_over() {
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

        assert_eq!(wait_over(&mut machine, at(8999)), wait);
        assert_eq!(machine.action(), wait);
    }

    #[test]
    fn a_ledger_that_was_taken_over_in_a_wait_ends_the_run() {
        let (mut machine, action) = started(RunLimits::new(Mode::Run), ledger(1, 0, 0));
        let _ = end(&mut machine, &action, completed(), ledger(1, 0, 0));
        let error = Failure::permanent("ledger_fenced", "another run has taken over");

        let last = machine.apply(RunFact::WaitOver {
            at: at(60),
            ledger: Err(error.clone()),
        });

        assert_eq!(exit(&last), &ExitReason::Failed { error });
    }

    #[test]
    fn a_quota_is_a_quota_although_the_ledger_cannot_be_read() {
        let (mut machine, _) = started(limits(Mode::Run), ledger(1, 0, 0));

        let last = machine.apply(RunFact::SessionEnded {
            at: at(1),
            number: 1,
            result: quota(None),
            ledger: Err(Failure::retryable("ledger_unavailable", "busy")),
        });

        assert_eq!(exit(&last), &ExitReason::QuotaExceeded);
    }

    #[test]
    fn the_end_is_the_end() {
        let (mut machine, action) = started(limits(Mode::Run), ledger(1, 1, 0));

        assert_eq!(machine.apply(RunFact::Cancelled), action);
        assert_eq!(wait_over(&mut machine, at(5)), action);
    }
}
