//! A race of sub-harnesses: each member is a process of its own, with one of the programs below it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_harness::{
    CommandCriterion, FolderError, HarnessFolder, HarnessId, HarnessManager, Race, Serving,
    SubHarnessProgram,
};
use tokio::signal::unix::{SignalKind, signal};

use super::cli::Cli;
use super::stage::Stage;
use super::work::{FLEET, home, member_work};
use crate::setting::{MARKER, Place};

/// Says to this program where the model of a member is, before the name of the member.
const MODEL: &str = "AUTONOE_TEST_MODEL_OF_";

/// How often sub-harnesses look.
const OFTEN: Duration = Duration::from_millis(20);

/// What this program does when the test below starts it again.
#[tokio::test]
async fn sub_harness() {
    let urls = Cli::ALL.into_iter().filter_map(|cli| {
        let url = std::env::var(format!("{MODEL}{}", cli.name()));
        Some((cli, url.ok()?))
    });
    let urls: Vec<_> = urls.collect();
    if urls.is_empty() {
        // Not started as one: there is nothing to serve, and that is an error.
        let stage = Stage::new();
        let place = stage.place();
        let folder = HarnessFolder::at(&place.path().join("a")).expect("an id");
        let work = member_work(place, []);
        let served = Serving::new(folder, Arc::new(work)).run().await;
        assert!(matches!(served, Err(FolderError::NoOrder { .. })));
        return;
    }
    let place = std::env::var_os(MARKER).expect("a place");
    let place = Place::of_another(place.into());
    let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
    let folder = HarnessFolder::at(&folder).expect("an id");
    let work = member_work(&place, urls);
    let mut interrupted = signal(SignalKind::interrupt()).expect("a handler");
    let leave = async move {
        interrupted.recv().await;
    };

    let serving = Serving::new(folder, Arc::new(work)).every(OFTEN);
    let served = serving.until(leave, Duration::from_secs(10)).run().await;

    served.expect("it can be served");
}

fn manager(stage: &Stage) -> HarnessManager {
    let program = SubHarnessProgram::new(std::env::current_exe().expect("this program"))
        .args(["fleet::processes::sub_harness", "--exact", "--nocapture"])
        .env("PATH", std::env::var_os("PATH").expect("set"))
        .env(MARKER, stage.place().path());
    let urls = stage.urls().into_iter();
    let program = urls.fold(program, |program, (cli, url)| {
        program.env(format!("{MODEL}{}", cli.name()), url)
    });
    HarnessManager::new(home(stage.place()).path(), program).every(OFTEN)
}

#[tokio::test]
async fn processes_that_lose_leave_nothing_of_their_programs() {
    let [in_tool, winner, in_turn] = Cli::ALL;
    let stage = Stage::new()
        .with_one_in_a_tool(in_tool)
        .with(winner, winner.writes(&["hello"]))
        .with_one_in_a_turn(in_turn);
    stage.hold_back(winner);
    let check = CommandCriterion::new(stage.check());

    let others = async {
        stage.is_in_its_tool(in_tool).await;
        stage.is_in_its_turn(in_turn).await;
        stage.let_go(winner);
    };
    let race = stage.run_on(Arc::new(manager(&stage)), Race {}, check, 1);
    let (outcome, ()) = tokio::join!(race, others);

    stage.assert_won_by(&outcome, winner).await;
    assert_eq!(stage.ended()[0], winner);
    stage.model(winner).verify();
    for cli in Cli::ALL {
        let folder = home(stage.place()).folder_of(FLEET, &HarnessId::new(cli.name()));
        let view = folder.expect("an id").view().expect("readable");
        assert!(view.outcome.is_some(), "{view:?}");
    }
}
