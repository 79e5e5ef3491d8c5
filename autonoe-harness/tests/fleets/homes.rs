//! Tests of the folder of all fleets.

use autonoe_harness::FleetHome;
use autonoe_harness::folder::MemberFolder;
use autonoe_harness::strategy::MemberId;

use crate::fleets::fixture::Project;

#[tokio::test]
async fn reading_creates_no_file() {
    let project = Project::new();
    let home = project.home();

    assert_eq!(home.fleets().await.expect("nothing"), []);
    assert_eq!(home.fleet_names().await.expect("nothing"), [""; 0]);
    assert_eq!(home.fleet("f").await.expect("nothing"), None);
    assert_eq!(home.decisions("f").await.expect("nothing"), []);
    assert_eq!(home.coordinator("f").expect("nobody"), None);
    assert_eq!(home.member_folders("f").expect("nobody"), []);
    assert_eq!(home.log("f", 9).expect("nothing"), Vec::<String>::new());
    assert!(!home.is_pause_requested("f").expect("nobody asked"));
    assert_eq!(home.stop_requested("f").expect("nobody asked"), None);
    home.request_resume("f").expect("nothing is to be done");
    assert!(!home.path().exists());
}

#[test]
fn members_are_found_by_their_fleet_and_a_folder_knows_its_home() {
    let project = Project::new();
    let home = project.home();
    let folder = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let other = home
        .member_folder("ff", &MemberId::new("a"))
        .expect("an id");
    for folder in [&folder, &other] {
        let run = autonoe_core::RunId::new(folder.id().as_str());
        let order = autonoe_core::engine::RunSpec::new(run, "work", serde_json::Value::Null);
        folder.submit(&order).expect("writable");
    }

    let found = home.member_folders("f").expect("readable");

    assert_eq!(found, std::slice::from_ref(&folder));
    assert_eq!(
        FleetHome::from_member_folder(&folder).expect("it is in one"),
        home
    );
    let outside = MemberFolder::from_path(&project.sibling_path("x")).expect("an id");
    assert!(FleetHome::from_member_folder(&outside).is_err());
}

#[test]
fn requests_to_a_fleet_reach_its_members_and_can_be_undone() {
    let project = Project::new();
    let home = project.home();
    let member = home.member_folder("f", &MemberId::new("a")).expect("an id");
    let run = autonoe_core::RunId::new(member.id().as_str());
    let order = autonoe_core::engine::RunSpec::new(run, "work", serde_json::Value::Null);
    member.submit(&order).expect("writable");

    home.request_pause("f").expect("writable");

    assert!(home.is_pause_requested("f").expect("readable"));
    assert!(member.is_pause_requested().expect("readable"));
    home.request_resume("f").expect("writable");
    assert!(!home.is_pause_requested("f").expect("readable"));
    assert!(!member.is_pause_requested().expect("readable"));
    home.request_stop("f", "enough").expect("writable");
    home.request_stop("f", "too late").expect("writable");
    assert_eq!(
        home.stop_requested("f").expect("readable").as_deref(),
        Some("enough")
    );
    // There is no leader that would forward the request to the member.
    let requested = member.stop_requested().expect("readable");
    assert_eq!(requested.as_deref(), Some("enough"));
    let ignored = std::fs::read_to_string(home.path().join(".gitignore"));
    assert_eq!(ignored.expect("a file"), "*\n");
}
