//! What holds for every run, whatever happens in it.

use proptest::prelude::*;

use super::*;
use crate::domain::{Budget, QuotaBackoff};

#[derive(Clone, Debug)]
struct Happening {
    result: SessionResult,
    passed: usize,
    command: Option<RunFact>,
}

fn results() -> impl Strategy<Value = SessionResult> {
    let outcomes = prop_oneof![
        Just(completed()),
        Just(SessionResult {
            activity: Activity::None,
            ..completed()
        }),
        Just(execution_error()),
        Just(result(SessionOutcome::MaxTurns)),
        Just(result(SessionOutcome::BudgetExceeded)),
        Just(result(SessionOutcome::Interrupted)),
        Just(quota(None)),
        (0_i64..50_000).prop_map(|second| quota(Some(at(second)))),
        Just(failed(Failure::retryable("crashed", "it crashed"))),
    ];
    (
        outcomes,
        prop_oneof![Just(None), (0_u64..50).prop_map(Some)],
    )
        .prop_map(|(result, cents)| SessionResult {
            cost_usd: cents.map(CostUsd::from_cents),
            ..result
        })
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let command = prop_oneof![
        8 => Just(None),
        1 => Just(Some(RunFact::PauseRequested)),
        1 => Just(Some(RunFact::Instructed { text: "hello".into() })),
    ];
    let one = (results(), 0_usize..4, command).prop_map(|(result, passed, command)| Happening {
        result,
        passed,
        command,
    });
    prop::collection::vec(one, 1..60)
}

fn run_limits() -> impl Strategy<Value = RunLimits> {
    (
        prop_oneof![Just(Mode::Run), Just(Mode::Sync)],
        prop_oneof![Just(None), (0_u32..8).prop_map(Some)],
        0_u32..5,
        prop_oneof![Just(OnQuota::Stop), Just(OnQuota::Wait)],
        prop_oneof![
            Just(None),
            (1_u64..200).prop_map(|cents| Some(CostUsd::from_cents(cents)))
        ],
        prop_oneof![
            Just(None),
            (1_u64..90_000).prop_map(|s| Some(Duration::from_secs(s)))
        ],
    )
        .prop_map(
            |(mode, max_iterations, max_retries, on_quota, cost_usd, time)| RunLimits {
                mode,
                max_iterations,
                max_retries,
                on_quota,
                quota_backoff: QuotaBackoff::default(),
                pause: Duration::from_secs(3),
                budget: Budget {
                    cost_usd,
                    tokens: None,
                    time,
                },
            },
        )
}

/// Plays `happenings` over and over, for at most `sessions` sessions, and looks at every step.
fn play(
    limits: RunLimits,
    happenings: &[Happening],
    sessions: u32,
    mut look: impl FnMut(&RunMachine, &RunAction, Timestamp),
) -> Option<ExitReason> {
    let mut now = at(0);
    let mut machine = RunMachine::new(limits);
    let mut action = machine.apply(RunFact::Started {
        at: now,
        ledger: LedgerView::default(),
    });
    let mut plays = happenings.iter().cycle();
    loop {
        look(&machine, &action, now);
        action = match action {
            RunAction::Finish { exit } => return Some(exit),
            RunAction::StartSession(plan) if plan.number > sessions => return None,
            RunAction::StartSession(plan) => {
                let Happening {
                    result,
                    passed,
                    command,
                } = plays.next().expect("endless");
                if let Some(command) = command {
                    let _ = machine.apply(command.clone());
                }
                now = later(now, Duration::from_secs(30));
                // Never all of them, so that only limits end the run.
                let ledger = Ok(LedgerView {
                    verified: *passed,
                    ..ledger(5, *passed, 0)
                });
                let (number, result) = (plan.number, result.clone());
                machine.apply(RunFact::SessionEnded {
                    at: now,
                    number,
                    result,
                    ledger,
                })
            }
            RunAction::Wait { until, .. } => {
                assert!(until >= now, "a wait lies ahead");
                now = until;
                machine.apply(RunFact::WaitOver { at: now })
            }
            RunAction::Hold => machine.apply(RunFact::ResumeRequested { at: now }),
            other => panic!("nothing is under way: {other:?}"),
        };
    }
}

proptest! {
    #[test]
    fn a_run_always_ends_under_a_limit(limits in run_limits(), happenings in happenings()) {
        let limited_by_time = limits.budget.time.is_some();
        // Waiting for quota is the one thing that max iterations does not limit.
        let limited_by_count = limits.max_iterations.is_some()
            && (limits.on_quota == OnQuota::Stop
                || happenings.iter().any(|one| {
                    !matches!(&one.result.end, SessionEnd::Outcome(
                        SessionOutcome::QuotaExceeded { .. }))
                }));
        prop_assume!(limited_by_time || limited_by_count);

        let exit = play(limits, &happenings, 10_000, |_, _, _| {});

        prop_assert!(exit.is_some(), "10,000 sessions and no end");
    }

    #[test]
    fn counters_never_go_down_except_on_reset(limits in run_limits(), happenings in happenings()) {
        let mut last = Tally::default();
        play(limits, &happenings, 200, |machine, _, _| {
            let tally = &machine.tally;
            assert!(tally.sessions >= last.sessions);
            assert!(tally.iterations >= last.iterations);
            assert!(tally.iterations <= tally.sessions);
            assert!(tally.cost.known_usd >= last.cost.known_usd);
            assert!(tally.cost.unknown_parts >= last.cost.unknown_parts);
            assert!(
                tally.consecutive_errors >= last.consecutive_errors
                    || tally.consecutive_errors == 0
            );
            last = tally.clone();
        });
    }

    #[test]
    fn waiting_never_counts(limits in run_limits(), happenings in happenings()) {
        let mut before_wait: Option<Tally> = None;
        play(limits, &happenings, 200, |machine, action, _| {
            if let Some(before) = before_wait.take() {
                assert_eq!(machine.tally.iterations, before.iterations);
                assert_eq!(machine.tally.consecutive_errors, before.consecutive_errors);
            }
            if matches!(action, RunAction::Wait { .. }) {
                before_wait = Some(machine.tally.clone());
            }
        });
    }

    #[test]
    fn limits_are_never_overrun(limits in run_limits(), happenings in happenings()) {
        play(limits.clone(), &happenings, 200, |machine, action, now| {
            let RunAction::StartSession(_) = action else { return };
            let tally = &machine.tally;
            // The session that starts here is counted already.
            assert!(limits.max_iterations.is_none_or(|max| tally.iterations < max));
            assert!(tally.consecutive_errors <= limits.max_retries);
            assert!(limits.budget.cost_usd.is_none_or(|cost| tally.cost.known_usd < cost));
            assert!(limits.budget.time.is_none_or(|time| now < later(at(0), time)));
        });
    }

    #[test]
    fn a_machine_that_was_saved_and_loaded_goes_on_the_same(
        limits in run_limits(),
        happenings in happenings(),
    ) {
        play(limits, &happenings, 50, |machine, _, now| {
            let saved = serde_json::to_string(machine).expect("it serialises");
            let mut loaded: RunMachine = serde_json::from_str(&saved).expect("it parses");
            assert_eq!(&loaded, machine);
            let fact = RunFact::WaitOver { at: now };
            assert_eq!(loaded.apply(fact.clone()), machine.clone().apply(fact));
        });
    }

    #[test]
    fn the_earlier_row_of_the_table_wins(
        interrupted: bool,
        done: bool,
        quota in prop_oneof![Just(None), Just(Some(OnQuota::Stop)), Just(Some(OnQuota::Wait))],
        spent: bool,
        iterations in 0_u32..3,
        errors in 0_u32..3,
        permanent: bool,
    ) {
        let error = if permanent {
            Failure::permanent("authentication", "no")
        } else {
            Failure::retryable("crashed", "no")
        };
        let decision = decide(&Situation {
            interrupted,
            completion: done.then_some(ExitReason::AllPassed),
            quota: quota.map(|on_quota| (on_quota, at(60))),
            deadline: None,
            spent: spent.then_some(BudgetKind::Cost),
            iterations,
            max_iterations: Some(2),
            last_error: (errors > 0).then_some(&error),
            consecutive_errors: errors,
            max_retries: 1,
        });

        let expected = if interrupted {
            "interrupted"
        } else if done {
            "all_passed"
        } else if quota == Some(OnQuota::Stop) {
            "quota_exceeded"
        } else if spent {
            "budget_exceeded"
        } else if iterations >= 2 {
            "max_iterations"
        } else if quota == Some(OnQuota::Wait) {
            "wait"
        } else if errors > 0 && permanent {
            "failed"
        } else if errors > 1 {
            "max_retries_exceeded"
        } else {
            "next"
        };
        let got = match &decision {
            Decision::Exit(exit) => exit.code(),
            Decision::WaitForQuota { .. } => "wait",
            Decision::NextSession => "next",
        };
        prop_assert_eq!(got, expected);
    }
}
