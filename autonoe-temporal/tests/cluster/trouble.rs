//! Runs that do not come on, and what is said of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_core::{
    Engine, EngineError, Failure, RunEnding, RunId, RunInstruction, RunPhase, SessionHost,
};
use autonoe_temporal::{SessionHosts, SessionsRun, WorkerSettings};
use autonoe_temporal_support::{
    Crew, DevServer, Site, Work, Working, engine, hasty, is_at, outcome, seen, submit,
};

use crate::afterwards::all_is_done_once;
use crate::refusing::Refusing;

/// Has what a run works on only when it is asked often enough, or can use it only then.
struct Reluctant {
    crew: Arc<Crew>,
    asked: AtomicU32,
    until: u32,
    failure: Failure,
}

impl SessionHosts for Reluctant {
    fn of(&self, run: &RunId, what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        match (asked < self.until, self.failure.code.as_str()) {
            (true, "not_here") => Err(self.failure.clone()),
            (true, _) => Ok(Arc::new(Refusing(self.failure.clone()))),
            (false, _) => self.crew.of(run, what),
        }
    }
}

fn reluctant(site: &Site, until: u32, failure: Failure) -> Arc<Reluctant> {
    Arc::new(Reluctant {
        crew: Crew::of(site, "here"),
        asked: AtomicU32::new(0),
        until,
        failure,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_run_does_not_come_on_is_told_and_it_goes_on_when_it_can() {
    let server = DevServer::start().await;
    let settings = server.settings().pace(hasty());
    let (site, work) = (Site::make(), Work::new(1));
    let run = site.run("shop", &work);
    let hosts = reluctant(
        &site,
        3,
        Failure::retryable("not_here", "it is not on this host"),
    );
    let worker = Working::start(settings.clone(), WorkerSettings::on("here"), |worker| {
        worker.sessions(hosts)
    });
    submit(&settings, &run).await;

    let engine = engine(&settings).await;
    let view = seen(&engine, &run.id, |view| view.trouble.is_some()).await;
    let outcome = outcome(&settings, &run).await;

    let trouble = view.trouble.expect("there is some");
    assert!(trouble.contains("it is not on this host"), "{trouble}");
    let ended = engine.status(&run.id).await.expect("it is known");
    assert!(is_at(&ended, |at| (at.progress, at.iteration) == (1.0, 2)));
    assert_eq!((ended.phase, ended.trouble), (RunPhase::Ended, None));
    drop(worker);
    all_is_done_once(&site, &run, &work, &outcome).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_that_nobody_can_tell_are_not_told_as_zero() {
    let server = DevServer::start().await;
    let settings = server.settings().pace(hasty());
    let (site, work) = (Site::make(), Work::new(1));
    let run = site.run("shop", &work);
    submit(&settings, &run).await;
    let engine = engine(&settings).await;

    let unanswered = engine.status(&run.id).await.expect("it is known");
    let crew = Crew::of(&site, "here");
    let worker = Working::start(settings.clone(), WorkerSettings::on("here"), |worker| {
        worker.sessions(crew)
    });
    outcome(&settings, &run).await;
    let ended = engine.status(&run.id).await.expect("it is known");

    assert_eq!((unanswered.phase, unanswered.at), (RunPhase::Waiting, None));
    assert!(is_at(&ended, |at| at.progress == 1.0), "{ended:?}");
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_host_cannot_do_is_tried_elsewhere_but_not_for_ever() {
    let server = DevServer::start().await;
    let settings = server.settings().pace(hasty());
    let (site, work) = (Site::make(), Work::new(1));
    let broken = || Failure::permanent("program_refused", "the program is another one");
    for (name, until, succeeds) in [("mended", 2, true), ("broken", u32::MAX, false)] {
        let settings = settings.clone().queue(name);
        let run = site.run(name, &work);
        let hosts = reluctant(&site, until, broken());
        let asked = hosts.clone();
        let worker = Working::start(settings.clone(), WorkerSettings::on("here"), |worker| {
            worker.sessions(hosts)
        });
        submit(&settings, &run).await;

        let outcome = outcome(&settings, &run).await;

        drop(worker);
        assert_eq!(outcome.is_success(), succeeds, "{outcome:?}");
        if let RunEnding::Failed { failure } = &outcome.ending {
            let why = &failure.message;
            assert!(why.contains("the program is another one"), "{why}");
            assert_eq!(asked.asked.load(Ordering::Relaxed), 5);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_no_more_than_its_next_session_can_hear() {
    let server = DevServer::start().await;
    let settings = server.settings().pace(hasty());
    let site = Site::make();
    let work = Work {
        held: Some(1),
        ..Work::new(1)
    };
    let run = site.run("shop", &work);
    let crew = Crew::of(&site, "here");
    let worker = Working::start(settings.clone(), WorkerSettings::on("here"), |worker| {
        worker.sessions(crew)
    });
    submit(&settings, &run).await;
    let engine = engine(&settings).await;
    seen(&engine, &run.id, |view| view.phase == RunPhase::Running).await;
    let say = || RunInstruction::Say("x".repeat(100 * 1024));

    for _ in 0..2 {
        engine.instruct(&run.id, say()).await.expect("it is told");
    }
    let refused = engine.instruct(&run.id, say()).await;
    site.release(&run);
    let outcome = outcome(&settings, &run).await;

    let Err(EngineError::Refused { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(reason.contains("204800 bytes"), "{reason}");
    drop(worker);
    all_is_done_once(&site, &run, &work, &outcome).await;
}
