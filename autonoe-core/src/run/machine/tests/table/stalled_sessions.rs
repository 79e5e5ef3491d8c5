//! Sessions in a row without progress.

use super::*;

/// Starts a run with two deliverables whose coding sessions may stall `max` times in a row.
fn coding(max: u32) -> (RunMachine, RunAction) {
    let limits = RunLimits {
        max_stalled_sessions: max,
        max_retries: 100,
        on_quota: OnQuota::Wait,
        ..limits(Mode::Run)
    };
    started(limits, ledger(2, 0, 0))
}

/// Ends sessions with `results`, none of which changes the ledger, until the run ends.
fn play(
    machine: &mut RunMachine,
    mut action: RunAction,
    results: impl IntoIterator<Item = SessionReport>,
) -> RunAction {
    for result in results {
        let unchanged = machine.ledger();
        action = end(machine, &action, result, unchanged);
        if let RunAction::Wait { until, .. } = action {
            action = wait_over(machine, until);
        }
        if matches!(action, RunAction::Finish { .. }) {
            break;
        }
    }
    action
}

fn progress(result: SessionReport) -> SessionReport {
    SessionReport {
        progress: SessionProgress::Some,
        ..result
    }
}

// Shows: spec/3.4/unlimited
#[test]
fn five_sessions_without_progress_end_a_run() {
    let (mut machine, mut action) = started(limits(Mode::Run), ledger(2, 0, 0));
    for _ in 0..4 {
        action = end(&mut machine, &action, stalled(completed()), ledger(2, 0, 0));
        assert!(matches!(action, RunAction::StartSession(_)), "{action:?}");
    }

    let last = end(&mut machine, &action, stalled(completed()), ledger(2, 0, 0));

    let expected = ExitReason::Stalled {
        sessions: 5,
        mode: Mode::Run,
    };
    assert_eq!(exit(&last), &expected);
    let report = machine.report(&RunId::new("r"), expected, at(1));
    assert_eq!((report.iterations, report.sessions), (5, 5));
}

#[test]
fn five_verify_sessions_without_progress_end_a_sync() {
    let (mut machine, action) = started(limits(Mode::Sync), ledger(2, 2, 0));
    let verify = end(&mut machine, &action, stalled(completed()), ledger(2, 2, 0));
    assert_eq!(instruction(&verify), &InstructionName::Verify);

    let last = play(&mut machine, verify, vec![stalled(completed()); 9]);

    let expected = ExitReason::Stalled {
        sessions: 5,
        mode: Mode::Sync,
    };
    assert_eq!(exit(&last), &expected);
    let report = machine.report(&RunId::new("r"), expected, at(1));
    assert_eq!(report.sessions, 6, "one to plan and five to verify");
}

#[test]
fn a_completed_plan_is_progress_even_if_nothing_had_to_change() {
    let limits = RunLimits {
        max_stalled_sessions: 1,
        ..limits(Mode::Sync)
    };
    let (mut machine, action) = started(limits, ledger(2, 2, 0));

    let next = end(&mut machine, &action, stalled(completed()), ledger(2, 2, 0));

    assert_eq!(instruction(&next), &InstructionName::Verify);
}

#[test]
fn each_session_end_increments_resets_or_keeps_the_count() {
    let failure = || failed(Failure::retryable("crashed", "it crashed"));
    let interrupted = || result(SessionOutcome::Interrupted);
    let cancelled = || SessionReport::new(SessionEnd::Cancelled);
    // Two sessions without progress come first. The limit is four, so the third does not end the
    // run.
    for (case, third, count) in [
        ("completed, nothing changed", stalled(completed()), 3),
        ("completed, something changed", progress(completed()), 0),
        ("completed, not measured", completed(), 0),
        ("max turns", stalled(result(SessionOutcome::MaxTurns)), 3),
        ("interrupted turn", stalled(interrupted()), 3),
        ("cancelled session", stalled(cancelled()), 2),
        ("cancelled session, not measured", cancelled(), 2),
        ("failed, nothing changed", stalled(failure()), 2),
        ("failed, not measured", failure(), 2),
        ("failed, something changed", progress(failure()), 0),
        ("execution error", stalled(execution_error()), 2),
        ("quota, nothing changed", stalled(quota(None)), 2),
        ("quota, something changed", progress(quota(None)), 0),
    ] {
        let (mut machine, action) = coding(4);
        let action = play(&mut machine, action, vec![stalled(completed()); 2]);

        play(&mut machine, action, [third]);

        assert_eq!(machine.tally.stalled_sessions, count, "{case}");
    }
}

#[test]
fn failures_and_quota_between_them_do_not_hide_sessions_without_progress() {
    let (mut machine, action) = coding(3);
    let results = [
        stalled(completed()),
        stalled(execution_error()),
        stalled(completed()),
        stalled(quota(None)),
        stalled(completed()),
    ];

    let last = play(&mut machine, action, results);

    assert_eq!(exit(&last).code(), "stalled");
}

#[test]
fn a_ledger_change_by_any_writer_is_progress() {
    let changes: [fn(&mut RunMachine, &RunAction); 2] = [
        // During a session, by a writer that the driver does not know.
        |machine, action| {
            let _ = end(machine, action, stalled(completed()), ledger(3, 1, 0));
        },
        // During the pause before the next session.
        |machine, action| {
            let _ = machine.apply(RunFact::PauseRequested);
            let unchanged = machine.ledger();
            let hold = end(machine, action, stalled(completed()), unchanged);
            assert_eq!(hold, RunAction::Hold);
            let _ = machine.apply(RunFact::ResumeRequested {
                at: at(5),
                ledger: Ok(ledger(3, 1, 0)),
            });
        },
    ];
    for change in changes {
        let (mut machine, action) = coding(4);
        let action = play(&mut machine, action, vec![stalled(completed()); 2]);

        change(&mut machine, &action);

        assert_eq!(machine.tally.stalled_sessions, 0);
    }
}

#[test]
fn a_limit_of_zero_is_no_limit() {
    let (mut machine, action) = coding(0);

    let action = play(&mut machine, action, vec![stalled(completed()); 50]);

    assert!(matches!(action, RunAction::StartSession(_)), "{action:?}");
}

#[test]
fn a_finished_ledger_and_max_iterations_take_precedence_over_a_stall() {
    let last_of = |limits: RunLimits, after: LedgerView| {
        let (mut machine, action) = started(limits, ledger(1, 0, 0));
        let last = end(&mut machine, &action, stalled(completed()), after);
        exit(&last).code()
    };
    let limits = RunLimits {
        max_stalled_sessions: 1,
        ..limits(Mode::Run)
    };
    let once = RunLimits {
        max_iterations: Some(1),
        ..limits
    };

    assert_eq!(last_of(limits.clone(), ledger(1, 1, 0)), "all_passed");
    assert_eq!(last_of(once, ledger(1, 0, 0)), "max_iterations");
    assert_eq!(last_of(limits, ledger(1, 0, 0)), "stalled");
}

#[test]
fn a_lost_session_keeps_the_count() {
    let (mut machine, action) = coding(3);
    let action = play(&mut machine, action, vec![stalled(completed()); 2]);
    let number = machine.running_session().expect("a session");

    let restart = machine.apply(RunFact::SessionLost { number });
    assert_eq!(restart, action);

    let last = play(&mut machine, restart, [stalled(completed())]);
    assert_eq!(exit(&last).code(), "stalled");
}

#[test]
fn a_lower_limit_on_resume_ends_the_run() {
    for (max, ends) in [(2, true), (3, false), (0, false)] {
        let (mut machine, action) = coding(9);
        play(&mut machine, action, vec![stalled(completed()); 2]);

        let answer = machine.apply(RunFact::LimitsChanged {
            at: at(100),
            limits: LimitOverrides {
                max_stalled_sessions: Some(max),
                ..LimitOverrides::default()
            },
            ledger: ledger(2, 0, 0),
        });

        if ends {
            assert_eq!(exit(&answer).code(), "stalled");
        } else {
            assert_eq!(answer, RunAction::Continue, "{max}");
        }
    }
}
