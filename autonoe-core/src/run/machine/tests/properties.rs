//! Property tests of every run, whatever its sessions do.

use proptest::prelude::*;

use super::*;
use crate::agent::Budget;
use crate::run::{OnQuota, QuotaBackoff};

#[derive(Clone, Debug)]
struct SessionCase {
    result: SessionReport,
    /// The passed deliverables of five; `None`: the ledger cannot be read.
    passed: Option<usize>,
    command: Option<RunFact>,
}

impl SessionCase {
    fn is_quota(&self) -> bool {
        let quota = SessionOutcome::QuotaExceeded {
            message: String::new(),
            resets_at: None,
        };
        match &self.result.end {
            SessionEnd::Outcome(outcome) => {
                std::mem::discriminant(outcome) == std::mem::discriminant(&quota)
            }
            _ => false,
        }
    }
}

fn results() -> impl Strategy<Value = SessionReport> {
    let ends = prop_oneof![
        4 => Just(completed()),
        1 => Just(SessionReport { activity: Activity::None, ..completed() }),
        1 => Just(execution_error()),
        1 => Just(result(SessionOutcome::MaxTurns)),
        1 => Just(result(SessionOutcome::BudgetExceeded)),
        1 => Just(result(SessionOutcome::Interrupted)),
        1 => Just(quota(None)),
        1 => (0_i64..50_000).prop_map(|second| quota(Some(at(second)))),
        1 => Just(failed(Failure::retryable("crashed", "it crashed"))),
    ];
    let cost = prop_oneof![
        4 => (0_u64..50).prop_map(|cents| CostTotal::known(CostUsd::from_cents(cents))),
        1 => Just(CostTotal::unknown()),
        1 => Just(CostTotal::at_least(CostUsd::from_cents(3))),
    ];
    let progress = prop_oneof![
        Just(SessionProgress::Some),
        Just(SessionProgress::None),
        Just(SessionProgress::Unknown),
    ];
    (ends, cost, progress).prop_map(|(result, cost, progress)| SessionReport {
        cost,
        progress,
        ..result
    })
}

fn instruction_names() -> impl Strategy<Value = InstructionName> {
    prop_oneof![
        prop::sample::select(&InstructionName::BUILT_IN[..]),
        Just(InstructionName::new("review")),
    ]
}

fn session_cases() -> impl Strategy<Value = Vec<SessionCase>> {
    let command = prop_oneof![
        8 => Just(None),
        1 => Just(Some(RunFact::PauseRequested)),
        1 => Just(Some(RunFact::MessageQueued { text: "hello".into() })),
        1 => Just(Some(RunFact::MessageSteered { text: "now".into() })),
        1 => (0_u32..20, instruction_names()).prop_map(|(number, instruction)| {
            Some(RunFact::InstructionSelected { number, instruction })
        }),
    ];
    // Never all of them, so that only limits end the run.
    let passed = prop_oneof![9 => (0_usize..4).prop_map(Some), 1 => Just(None)];
    let one = (results(), passed, command).prop_map(|(result, passed, command)| SessionCase {
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
        0_u32..4,
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
            |(
                mode,
                max_iterations,
                max_retries,
                max_stalled_sessions,
                on_quota,
                cost_usd,
                time,
            )| {
                RunLimits {
                    mode,
                    max_iterations,
                    max_retries,
                    max_stalled_sessions,
                    on_quota,
                    quota_backoff: QuotaBackoff::default(),
                    pause: Duration::from_secs(3),
                    budget: Budget {
                        cost_usd,
                        tokens: None,
                        time,
                    },
                }
            },
        )
}

/// Returns the limits of a run that only errors, the quota and missing progress can end.
fn without_other_limits(limits: &RunLimits) -> RunLimits {
    RunLimits {
        max_iterations: None,
        max_stalled_sessions: limits.max_stalled_sessions.max(1),
        budget: Budget::default(),
        ..limits.clone()
    }
}

/// Plays `session_cases` repeatedly, for at most `sessions` sessions, and inspects every step.
fn play(
    limits: RunLimits,
    session_cases: &[SessionCase],
    sessions: u32,
    inspect: impl FnMut(&RunMachine, &RunAction, Timestamp),
) -> Option<ExitReason> {
    Player::new(limits, inspect, |_, _| {}).play(session_cases, sessions)
}

/// Like [`play`], but records every fact with the decision that followed.
fn play_facts(
    limits: RunLimits,
    session_cases: &[SessionCase],
    sessions: u32,
    record: impl FnMut(&RunFact, &RunAction),
) -> Option<ExitReason> {
    Player::new(limits, |_, _, _| {}, record).play(session_cases, sessions)
}

/// Drives a machine through session cases and checks its invariants after each step.
struct Player<L, R> {
    machine: RunMachine,
    now: Timestamp,
    inspect: L,
    record: R,
}

impl<L, R> Player<L, R>
where
    L: FnMut(&RunMachine, &RunAction, Timestamp),
    R: FnMut(&RunFact, &RunAction),
{
    fn new(limits: RunLimits, inspect: L, record: R) -> Self {
        Self {
            machine: RunMachine::new(limits),
            now: at(0),
            inspect,
            record,
        }
    }

    fn apply(&mut self, fact: &RunFact) -> RunAction {
        let action = self.machine.apply(fact.clone());
        (self.record)(fact, &action);
        action
    }

    fn play(mut self, session_cases: &[SessionCase], sessions: u32) -> Option<ExitReason> {
        let mut action = self.apply(&RunFact::Started {
            at: self.now,
            ledger: LedgerView::default(),
        });
        let mut plays = session_cases.iter().cycle();
        loop {
            assert_eq!(
                self.machine.action(),
                action,
                "the machine knows what is under way"
            );
            (self.inspect)(&self.machine, &action, self.now);
            action = match action {
                RunAction::Finish { exit } => return Some(exit),
                RunAction::StartSession(plan) if plan.number > sessions => return None,
                RunAction::StartSession(plan) => {
                    let session_case = plays.next().expect("endless");
                    self.session(plan.number, session_case)
                }
                RunAction::Wait { until, .. } => {
                    assert!(until >= self.now, "a wait lies ahead");
                    let ledger = Ok(self.machine.ledger());
                    if until > self.now {
                        let early = self.apply(&RunFact::WaitOver {
                            at: self.now,
                            ledger: ledger.clone(),
                        });
                        assert_eq!(early, self.machine.action(), "too early is not over");
                    }
                    self.now = until;
                    self.apply(&RunFact::WaitOver { at: until, ledger })
                }
                RunAction::Hold => self.apply(&RunFact::ResumeRequested {
                    at: self.now,
                    ledger: Ok(self.machine.ledger()),
                }),
                other => panic!("nothing is under way: {other:?}"),
            };
        }
    }

    fn session(&mut self, number: u32, session_case: &SessionCase) -> RunAction {
        if let Some(command) = &session_case.command {
            self.apply(command);
        }
        self.now = saturating_add(self.now, Duration::from_secs(30));
        let ledger = match session_case.passed {
            Some(passed) => Ok(LedgerView {
                verified: passed,
                ..ledger(5, passed, 0)
            }),
            None => Err(Failure::retryable("ledger_unavailable", "busy")),
        };
        self.apply(&RunFact::SessionEnded {
            at: self.now,
            number,
            result: session_case.result.clone(),
            ledger,
        })
    }
}

proptest! {
    #[test]
    fn a_run_always_ends_under_a_limit(limits in run_limits(), session_cases in session_cases()) {
        let limited_by_time = limits.budget.time.is_some();
        // Max iterations limits everything except waits for quota.
        let limited_by_count = limits.max_iterations.is_some()
            && (limits.on_quota == OnQuota::Stop
                || session_cases.iter().any(|session_case| !session_case.is_quota()));
        prop_assume!(limited_by_time || limited_by_count);

        let exit = play(limits, &session_cases, 10_000, |_, _, _| {});

        prop_assert!(exit.is_some(), "10,000 sessions and no end");
    }

    #[test]
    fn planning_that_makes_nothing_ends_without_any_limit(
        mode in prop_oneof![Just(Mode::Run), Just(Mode::Sync)],
        outcome in prop_oneof![
            Just(SessionOutcome::Completed),
            Just(SessionOutcome::MaxTurns),
            Just(SessionOutcome::Interrupted),
        ],
        activity in prop_oneof![Just(Activity::None), Just(Activity::Some)],
    ) {
        let (mut machine, mut action) = started(limits(mode), LedgerView::default());
        for _ in 0..100 {
            if let RunAction::Finish { .. } = action {
                return Ok(());
            }
            let result = SessionReport { activity, ..result(outcome.clone()) };
            action = end(&mut machine, &action, result, LedgerView::default());
        }
        prop_assert!(false, "a hundred sessions and no plan");
    }

    #[test]
    fn a_run_in_which_nothing_changes_always_ends(
        limits in run_limits(),
        mut session_cases in session_cases(),
    ) {
        let limits = without_other_limits(&limits);
        for session_case in &mut session_cases {
            session_case.result.progress = SessionProgress::None;
            session_case.passed = session_case.passed.map(|_| 0);
        }
        prop_assume!(
            limits.on_quota == OnQuota::Stop
                || session_cases.iter().any(|session_case| !session_case.is_quota())
        );

        let exit = play(limits, &session_cases, 10_000, |_, _, _| {});

        prop_assert!(exit.is_some(), "10,000 sessions and no end");
    }

    #[test]
    fn a_run_with_progress_in_every_session_never_stalls(
        limits in run_limits(),
        mut session_cases in session_cases(),
        unknown: bool,
    ) {
        for session_case in &mut session_cases {
            session_case.result.progress = if unknown {
                SessionProgress::Unknown
            } else {
                SessionProgress::Some
            };
        }

        let exit = play(without_other_limits(&limits), &session_cases, 200, |_, _, _| {});

        prop_assert!(exit.is_none_or(|exit| exit.code() != "stalled"));
    }

    #[test]
    fn replaying_the_facts_of_a_journal_gives_the_same_decisions(
        limits in run_limits(),
        session_cases in session_cases(),
    ) {
        let mut facts = Vec::new();
        let mut decisions = Vec::new();
        let exit = play_facts(limits.clone(), &session_cases, 100, |fact, action| {
            facts.push(serde_json::to_string(fact).expect("it serialises"));
            decisions.push(action.clone());
        });

        let mut replayed = RunMachine::new(limits);
        for (fact, decision) in facts.iter().zip(decisions) {
            let fact = serde_json::from_str(fact).expect("it parses");
            assert_eq!(replayed.apply(fact), decision);
        }
        if let Some(exit) = exit {
            assert_eq!(replayed.action(), finish(exit));
        }
    }

    #[test]
    fn counters_never_go_down_except_on_reset(limits in run_limits(), session_cases in session_cases()) {
        let mut last = Tally::default();
        play(limits, &session_cases, 200, |machine, _, _| {
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
            assert!(tally.stalled_sessions <= tally.iterations);
            assert!(
                tally.stalled_sessions >= last.stalled_sessions || tally.stalled_sessions == 0
            );
            last = tally.clone();
        });
    }

    #[test]
    fn waiting_never_counts(limits in run_limits(), session_cases in session_cases()) {
        let mut before_wait: Option<Tally> = None;
        play(limits, &session_cases, 200, |machine, action, _| {
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
    fn limits_are_never_overrun(limits in run_limits(), session_cases in session_cases()) {
        let deadline = limits.budget.time.map(|time| saturating_add(at(0), time));
        play(limits.clone(), &session_cases, 200, |machine, action, now| {
            let tally = &machine.tally;
            match action {
                RunAction::StartSession(plan) => {
                    // The session that starts here is not counted yet.
                    assert!(limits.max_iterations.is_none_or(|max| tally.iterations < max));
                    assert!(tally.consecutive_errors <= limits.max_retries);
                    let max = limits.max_stalled_sessions;
                    assert!(max == 0 || tally.stalled_sessions < max);
                    assert!(limits.budget.cost_usd.is_none_or(|cost| tally.cost.known_usd < cost));
                    assert!(deadline.is_none_or(|deadline| now < deadline));
                    assert_eq!(plan.deadline, deadline);
                }
                RunAction::Wait { until, .. } => {
                    assert!(deadline.is_none_or(|deadline| *until < deadline), "a wait in vain");
                }
                _ => {}
            }
        });
    }

    #[test]
    fn a_message_is_repeated_until_an_agent_has_read_it(
        limits in run_limits(),
        session_cases in session_cases(),
    ) {
        let mut machine = RunMachine::new(limits);
        let _ = machine.apply(RunFact::MessageQueued { text: "use tabs".into() });
        let mut action =
            machine.apply(RunFact::Started { at: at(0), ledger: LedgerView::default() });
        let mut now = at(0);
        let mut read = 0;
        for session_case in session_cases.iter().cycle().take(200) {
            match action {
                RunAction::StartSession(plan) => {
                    let has_message = plan.messages.contains(&"use tabs".to_owned());
                    assert_eq!(has_message, read == 0, "session {}", plan.number);
                    now = saturating_add(now, Duration::from_secs(30));
                    let result = session_case.result.clone();
                    let completed = result.end.is_completed() && result.activity == Activity::Some;
                    let number = plan.number;
                    let ledger = Ok(ledger(5, session_case.passed.unwrap_or_default(), 0));
                    let unpriced = plan.budget.cost_usd.is_some() && result.cost.exact().is_none();
                    action = machine.apply(RunFact::SessionEnded { at: now, number, result, ledger });
                    let is_pending = machine.messages.contains(&"use tabs".to_owned())
                        || matches!(&machine.state, MachineState::Session(plan)
                            if plan.messages.contains(&"use tabs".to_owned()));
                    if completed && !unpriced {
                        assert!(!is_pending, "it was read");
                    }
                    read += usize::from(!is_pending);
                }
                RunAction::Wait { until, .. } => {
                    now = until;
                    action = wait_over(&mut machine, now);
                }
                _ => break,
            }
        }
        let report = machine.report(&RunId::new("r"), ExitReason::Interrupted, now);
        let undelivered = report.undelivered_messages.len();
        let in_session = usize::from(matches!(machine.state, MachineState::Session(_)) && read == 0);
        prop_assert_eq!(undelivered + in_session, usize::from(read == 0));
    }

    #[test]
    fn a_machine_behaves_the_same_after_it_was_saved_and_loaded(
        limits in run_limits(),
        session_cases in session_cases(),
        next in results(),
    ) {
        play(limits, &session_cases, 50, |machine, action, now| {
            let saved = serde_json::to_string(machine).expect("it serialises");
            let loaded: RunMachine = serde_json::from_str(&saved).expect("it parses");
            assert_eq!(&loaded, machine);
            let number = match action {
                RunAction::StartSession(plan) => plan.number,
                _ => 0,
            };
            let ledger = Ok(machine.ledger());
            for fact in [
                RunFact::WaitOver { at: now, ledger: ledger.clone() },
                RunFact::Cancelled,
                RunFact::PauseRequested,
                RunFact::ResumeRequested { at: now, ledger: ledger.clone() },
                RunFact::MessageQueued { text: "x".into() },
                RunFact::InstructionSelected {
                    number,
                    instruction: InstructionName::new("review"),
                },
                RunFact::LimitsChanged {
                    at: now,
                    limits: LimitOverrides { max_iterations: Some(3), ..LimitOverrides::default() },
                    ledger: machine.ledger(),
                },
                RunFact::SessionEnded { at: now, number, result: next.clone(), ledger },
            ] {
                let (mut one, mut other) = (loaded.clone(), machine.clone());
                assert_eq!(one.apply(fact.clone()), other.apply(fact));
                assert_eq!(one, other);
            }
        });
    }

    #[test]
    fn changed_limits_end_the_current_action_or_apply_after_it(
        limits in run_limits(),
        other in run_limits(),
        session_cases in session_cases(),
    ) {
        let overrides = LimitOverrides {
            max_iterations: other.max_iterations,
            max_retries: Some(other.max_retries),
            max_stalled_sessions: Some(other.max_stalled_sessions),
            on_quota: Some(other.on_quota),
            quota_backoff: None,
            pause: Some(other.pause),
            budget: other.budget,
        };
        play(limits, &session_cases, 50, |machine, action, now| {
            let mut changed = machine.clone();
            let ledger = machine.ledger();
            let answer = changed.apply(RunFact::LimitsChanged { at: now, limits: overrides.clone(), ledger });
            match (action, answer) {
                (RunAction::Finish { .. }, answer) => assert_eq!(&answer, action),
                (_, RunAction::Finish { .. }) => {}
                (_, answer) => {
                    assert_eq!(answer, RunAction::Continue);
                    assert_eq!(changed.limits(), &overrides.apply_to(machine.limits()));
                    assert_eq!(changed.tally, machine.tally, "counts go on");
                    let (max, tally) = (overrides.max_iterations, &changed.tally);
                    assert!(max.is_none_or(|max| tally.iterations < max));
                    assert!(overrides.budget.cost_usd.is_none_or(|cost| tally.cost.known_usd < cost));
                    let under_way = changed.action();
                    assert_eq!(std::mem::discriminant(&under_way), std::mem::discriminant(action));
                }
            }
        });
    }

    // Shows: beyond/order-of-exits, spec/3.4/order
    #[test]
    fn the_earlier_row_of_the_table_wins(
        interrupted: bool,
        done: bool,
        quota in prop_oneof![Just(None), Just(Some(OnQuota::Stop)), Just(Some(OnQuota::Wait))],
        spent: bool,
        late: bool,
        iterations in 0_u32..3,
        errors in 0_u32..3,
        stalled_sessions in 0_u32..3,
        permanent: bool,
    ) {
        let error = if permanent {
            Failure::permanent("authentication", "no")
        } else {
            Failure::retryable("crashed", "no")
        };
        let decision = decide(&DecisionInputs {
            interrupted,
            completion: done.then_some(ExitReason::AllPassed),
            quota,
            quota_resets_at: quota.map(|_| at(60)),
            next_start: at(60),
            deadline: late.then_some(at(60)),
            spent: spent.then_some(BudgetKind::Cost),
            iterations,
            max_iterations: Some(2),
            last_error: (errors > 0).then_some(&error),
            consecutive_errors: errors,
            max_retries: 1,
            mode: Mode::Run,
            stalled_sessions,
            max_stalled_sessions: 2,
        });

        let expected = if interrupted {
            "interrupted"
        } else if done {
            "all_passed"
        } else if errors > 0 && permanent {
            "failed"
        } else if quota == Some(OnQuota::Stop) {
            "quota_exceeded"
        } else if late && !spent && quota == Some(OnQuota::Wait) {
            "quota_wait_too_long"
        } else if spent || late {
            "budget_exceeded"
        } else if iterations >= 2 {
            "max_iterations"
        } else if stalled_sessions >= 2 {
            "stalled"
        } else if quota == Some(OnQuota::Wait) {
            "wait"
        } else if errors > 1 {
            "max_retries_exceeded"
        } else {
            "next"
        };
        let got = match &decision {
            Decision::Exit(exit) => exit.code(),
            Decision::WaitForQuota => "wait",
            Decision::NextSession => "next",
        };
        prop_assert_eq!(got, expected);
    }
}
