//! A run that is cancelled in the middle of a tool call.

use autonoe_core::{Engine, RunEnding, SessionEnd};
use autonoe_temporal::{Pace, WorkerSettings};
use autonoe_temporal_support::{
    BUILDING, Crew, DevServer, Site, Starts, Work, Working, engine, eventually, hasty, outcome,
    submit,
};

use crate::afterwards::{ends, is_written_down, living, nothing_lives};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_in_a_tool_leaves_no_process_and_has_its_end_recorded() {
    let server = DevServer::start().await;
    let pace = Pace {
        heartbeat: Pace::default().heartbeat,
        ..hasty()
    };
    let settings = server.settings().pace(pace);
    let site = Site::make();
    let work = Work {
        held: Some(2),
        starts: Starts::Tool,
        ..Work::new(2)
    };
    let run = site.run("shop", &work);
    let crew = Crew::of(&site, "one");
    let worker = Working::start(settings.clone(), WorkerSettings::on("one"), |worker| {
        worker.sessions(crew)
    });
    submit(&settings, &run).await;
    let folder = site.project_path(&run);
    eventually("the tool", || folder.join(BUILDING).exists()).await;
    assert!(living(&folder).len() >= 2, "{:?}", living(&folder));

    let cancelled = engine(&settings).await.cancel(&run.id, "enough").await;
    cancelled.expect("it is told");
    let outcome = outcome(&settings, &run).await;

    // It has ended with all that it started, although the worker lives.
    nothing_lives(&folder).await;
    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    assert_eq!(outcome.output["deliverablesPassedCount"], 0);
    let ends = ends(&site, &run);
    let [(1, planned), (2, SessionEnd::Cancelled)] = &ends[..] else {
        panic!("{ends:?}");
    };
    assert!(planned.is_completed());
    is_written_down(&site.journal(&run), &outcome);
    let log = site.log();
    assert_eq!(log.began("shop", 2), ["one"]);
    assert!(log.ended("shop", 2).is_empty() && log.began("shop", 3).is_empty());
    drop(worker);
}
