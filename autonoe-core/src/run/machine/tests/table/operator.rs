//! The operator's requests: pause, resume, instruct.

use super::*;

#[test]
fn a_pause_holds_before_the_next_session_and_a_resume_continues() {
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
    let _ = machine.apply(RunFact::MessageQueued {
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
fn a_message_is_resent_if_the_agent_may_not_have_read_it() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(2, 0, 0));
    let _ = machine.apply(RunFact::MessageQueued {
        text: "first".into(),
    });
    let second = end(&mut machine, &action, completed(), ledger(2, 0, 0));
    let _ = machine.apply(RunFact::MessageQueued {
        text: "second".into(),
    });
    let broke = failed(Failure::retryable("crashed", "at the start"));

    let third = end(&mut machine, &second, broke, ledger(2, 0, 0));

    let RunAction::StartSession(plan) = third else {
        panic!("no session: {third:?}")
    };
    assert_eq!(plan.messages, ["first", "second"]);
}
