//! How long a program lives, and whom it serves.

use autonoe_codex::{CodexHome, ProgramLife};
use autonoe_core::{RunId, StreamEvent};
use autonoe_testkit::model_server::{Script, Turn};
use futures::StreamExt;
use rustix::process::Signal;

use super::Run;
use crate::model::shell;
use crate::setting::{Setting, events_of, eventually, send, within};

/// A setting in which the model greets whoever asks.
fn greeting() -> Setting {
    Setting::new(Script::by(|_| Turn::text("Hello."))).unverified()
}

#[tokio::test]
async fn sessions_that_follow_each_other_have_one_program() {
    for setting in [greeting(), greeting().sandboxed()] {
        let run = Run::of(setting);
        run.play(run.spec()).await;
        let program = run.kept_program();
        for number in 2..5 {
            let mut spec = run.spec();
            spec.key.number = number;

            run.play(spec).await;

            assert_eq!(run.kept_program(), program);
            assert_eq!(run.session_folders().len(), 1);
        }
        run.end().await;
    }
}

#[tokio::test]
async fn sessions_side_by_side_have_a_program_each_and_the_next_ones_have_them_again() {
    let run = Run::of(greeting());
    let (mut one, mut other) = (run.client(run.spec()), run.client(run.spec()));
    let both = [
        events_of(one.as_mut(), "Say hello.").await,
        events_of(other.as_mut(), "Say hello.").await,
    ];
    assert!(both.iter().all(|(_, error)| error.is_none()), "{both:?}");
    let mut programs = run.programs();
    programs.sort_unstable();
    assert_eq!(programs.len(), 2);
    within(one.dispose()).await.expect("it ends");
    within(other.dispose()).await.expect("it ends");

    run.play(run.spec()).await;

    let mut now = run.programs();
    now.sort_unstable();
    assert_eq!(now, programs);
    run.end().await;
}

#[tokio::test]
async fn a_session_that_stands_alone_keeps_nothing() {
    let run = Run::of(greeting());
    run.play(run.setting.spec([])).await;
    run.assert_nothing_is_left();
}

#[tokio::test]
async fn who_wants_it_has_a_program_for_each_session() {
    let setting = greeting();
    let options = setting.options().with_program_life(ProgramLife::Session);
    let run = Run::with(setting, options);

    run.play(run.spec()).await;

    run.assert_nothing_is_left();
}

/// What it was started with cannot be changed.
#[tokio::test]
async fn a_session_that_needs_another_start_has_a_program_of_its_own() {
    let run = Run::of(greeting());
    run.play(run.spec()).await;
    let program = run.kept_program();

    let mut spec = run.spec();
    spec.environment.insert("GREETING".into(), "hello".into());
    run.play(spec).await;
    let second = run.kept_program();
    assert_ne!(second, program);

    let mut spec = run.spec();
    spec.key.run = RunId::new("another");
    run.play(spec).await;
    assert_eq!(run.programs().len(), 2);
    assert!(run.programs().contains(&second));
    run.end().await;
}

#[tokio::test]
async fn a_program_that_dies_between_sessions_is_replaced_in_silence() {
    for setting in [greeting(), greeting().sandboxed()] {
        let run = Run::of(setting);
        run.play(run.spec()).await;
        let program = run.kept_program();
        send(Signal::KILL, program);
        eventually("its end", || !run.programs().contains(&program)).await;

        run.play(run.spec()).await;

        assert_ne!(run.kept_program(), program);
        run.end().await;
    }
}

#[tokio::test]
async fn a_program_that_does_not_answer_any_more_is_replaced_in_silence() {
    let setting = greeting();
    let mut options = setting.options();
    options.start_limit = std::time::Duration::from_secs(30);
    let run = Run::with(setting, options);
    run.play(run.spec()).await;
    let program = run.kept_program();
    send(Signal::STOP, program);

    run.play(run.spec()).await;

    assert_ne!(run.kept_program(), program);
    run.end().await;
}

#[tokio::test]
async fn a_program_whose_turn_was_interrupted_serves_the_next_session() {
    let run = Run::new(Script::new([
        shell("echo 1 > begun; sleep 600"),
        Turn::text("Hello."),
    ]));
    let mut client = run.client(run.spec());
    let control = client.control();
    let asked = events_of(client.as_mut(), "Wait.");
    let interrupted = async {
        run.written("begun").await;
        control.interrupt().await.expect("it is told");
    };
    let ((events, error), ()) = within(async { tokio::join!(asked, interrupted) }).await;
    assert!(error.is_none(), "{error:?} {events:?}");
    within(client.dispose()).await.expect("it ends");
    let program = run.kept_program();

    run.play(run.spec()).await;

    assert_eq!(run.kept_program(), program);
    run.end().await;
}

#[tokio::test]
async fn a_program_that_is_let_go_in_the_middle_of_a_turn_serves_nobody() {
    let run = Run::new(Script::new([shell("echo 1 > begun; sleep 600")]));
    let mut client = run.client(run.spec());
    {
        let mut stream = client.query("Wait.".into());
        let listened = async { while stream.next().await.is_some() {} };
        tokio::select! {
            () = listened => panic!("it does not end"),
            () = run.written("begun") => {}
        }
    }
    // It is disposed of while the turn is still being stopped.
    within(client.dispose()).await.expect("it ends");

    for process in run.processes() {
        assert!(!process.name.contains("sleep"), "{process:?}");
    }
    run.end().await;
}

#[tokio::test]
async fn a_conversation_that_is_kept_is_gone_on_with_in_the_same_program() {
    let script = Script::new([
        Turn::text("I keep the word walnut."),
        Turn::text("Something else."),
        shell("touch trace.txt"),
        Turn::text("The word was walnut."),
    ]);
    let setting = Setting::new(script);
    let home = CodexHome::Kept(setting.folder.join("kept"));
    let options = setting.options().with_home(home);
    let run = Run::with(setting, options);
    let events = run.play(run.spec()).await;
    let Some(StreamEvent::Started { session, .. }) = events.first() else {
        panic!("{events:?}");
    };
    let program = run.kept_program();
    run.play(run.spec()).await;

    let mut spec = run.strict_spec();
    spec.resume = Some(session.clone());
    let events = run.play(spec).await;

    assert_eq!(run.kept_program(), program);
    assert!(
        events.contains(&StreamEvent::text("The word was walnut.")),
        "{events:?}"
    );
    assert!(!run.file("trace.txt").exists(), "it is guarded anew");
    let requests = run.server.log().main_requests();
    let told = format!("{:?}", requests[2].messages);
    assert!(told.contains("I keep the word walnut."), "{told}");
    assert!(!told.contains("Something else."), "{told}");
    run.server.verify();
    run.end().await;
}
