//! Test of a race of members in processes of their own, each with one of the CLIs below it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_harness::executor::CommandCriterion;
use autonoe_harness::folder::{FolderError, MemberFolder};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{MemberCommand, MemberManager, MemberServer, Race};
use tokio::signal::unix::{SignalKind, signal};

use super::cli::Cli;
use super::fixture::{FLEET, FleetFixture, home, member_work};
use crate::fixture::{Fixture, MARKER};

/// Prefix of the variable with the model address of a member, followed by its name.
const MODEL: &str = "AUTONOE_TEST_MODEL_OF_";

/// Poll interval of members.
const OFTEN: Duration = Duration::from_millis(20);

/// Role of this program when the test below starts it again.
#[tokio::test]
async fn member() {
    let urls = Cli::ALL.into_iter().filter_map(|cli| {
        let url = std::env::var(format!("{MODEL}{}", cli.name()));
        Some((cli, url.ok()?))
    });
    let urls: Vec<_> = urls.collect();
    if urls.is_empty() {
        // Not started as a member: there is nothing to serve, and that is an error.
        let fixture = FleetFixture::new();
        let place = fixture.base_fixture();
        let folder = MemberFolder::from_path(&place.path().join("a")).expect("an id");
        let work = member_work(place, []);
        let served = MemberServer::new(folder, Arc::new(work)).run().await;
        assert!(matches!(served, Err(FolderError::NoOrder { .. })));
        return;
    }
    let place = std::env::var_os(MARKER).expect("a place");
    let place = Fixture::of_another(place.into());
    let folder = PathBuf::from(std::env::args_os().next_back().expect("a folder"));
    let folder = MemberFolder::from_path(&folder).expect("an id");
    let work = member_work(&place, urls);
    let mut interrupted = signal(SignalKind::interrupt()).expect("a handler");
    let leave = async move {
        interrupted.recv().await;
    };

    let serving = MemberServer::new(folder, Arc::new(work)).every(OFTEN);
    let served = serving
        .shutdown_signal(leave, Duration::from_secs(10))
        .run()
        .await;

    served.expect("it can be served");
}

fn manager(fixture: &FleetFixture) -> MemberManager {
    let program = MemberCommand::new(std::env::current_exe().expect("this program"))
        .args(["fleet::processes::member", "--exact", "--nocapture"])
        .env("PATH", std::env::var_os("PATH").expect("set"))
        .env(MARKER, fixture.base_fixture().path());
    let urls = fixture.urls().into_iter();
    let program = urls.fold(program, |program, (cli, url)| {
        program.env(format!("{MODEL}{}", cli.name()), url)
    });
    MemberManager::new(home(fixture.base_fixture()).path(), program).every(OFTEN)
}

#[tokio::test]
async fn processes_that_lose_leave_nothing_of_their_programs() {
    let [in_tool, winner, in_turn] = Cli::ALL;
    let fixture = FleetFixture::new()
        .with_one_in_a_tool(in_tool)
        .with(winner, winner.writes(&["hello"]))
        .with_one_in_a_turn(in_turn);
    fixture.hold_back(winner);
    let check = CommandCriterion::new(fixture.check());

    let others = async {
        fixture.is_in_its_tool(in_tool).await;
        fixture.is_in_its_turn(in_turn).await;
        fixture.let_go(winner);
    };
    let race = fixture.run_on(Arc::new(manager(&fixture)), Race {}, check, 1);
    let (outcome, ()) = tokio::join!(race, others);

    fixture.assert_won_by(&outcome, winner).await;
    assert_eq!(fixture.ended()[0], winner);
    fixture.model(winner).verify();
    for cli in Cli::ALL {
        let folder = home(fixture.base_fixture()).member_folder(FLEET, &MemberId::new(cli.name()));
        let view = folder.expect("an id").view().expect("readable");
        assert!(view.outcome.is_some(), "{view:?}");
    }
}
