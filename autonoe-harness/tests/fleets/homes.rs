//! The folder of all fleets, seen from outside.

use autonoe_harness::{FleetHome, HarnessFolder, HarnessId};

use crate::fleets::setting::Project;

#[tokio::test]
async fn to_look_makes_no_file() {
    let project = Project::new();
    let home = project.home();

    assert_eq!(home.fleets().await.expect("nothing"), []);
    assert_eq!(home.fleet("f").await.expect("nothing"), None);
    assert_eq!(home.decisions("f").await.expect("nothing"), []);
    assert_eq!(home.coordinator("f").expect("nobody"), None);
    assert_eq!(home.folders_of("f").expect("nobody"), []);
    assert_eq!(home.log("f", 9).expect("nothing"), Vec::<String>::new());
    assert!(!home.pause_asked("f").expect("nobody asked"));
    assert_eq!(home.stop_asked("f").expect("nobody asked"), None);
    home.ask_resume("f").expect("nothing is to be done");
    assert!(!home.path().exists());
}

#[test]
fn members_are_found_by_their_fleet_and_a_folder_knows_its_home() {
    let project = Project::new();
    let home = project.home();
    let folder = home.folder_of("f", &HarnessId::new("a")).expect("an id");
    let other = home.folder_of("ff", &HarnessId::new("a")).expect("an id");
    for folder in [&folder, &other] {
        let run = autonoe_core::RunId::new(folder.id().as_str());
        let order = autonoe_core::RunSpec::new(run, "work", serde_json::Value::Null);
        folder.submit(&order).expect("writable");
    }

    let found = home.folders_of("f").expect("readable");

    assert_eq!(found, std::slice::from_ref(&folder));
    assert_eq!(FleetHome::around(&folder).expect("it is in one"), home);
    let elsewhere = HarnessFolder::at(&project.beside("x")).expect("an id");
    assert!(FleetHome::around(&elsewhere).is_err());
}

#[test]
fn what_a_fleet_is_asked_for_is_seen_by_its_members_and_undone() {
    let project = Project::new();
    let home = project.home();
    let member = home.folder_of("f", &HarnessId::new("a")).expect("an id");
    let run = autonoe_core::RunId::new(member.id().as_str());
    let order = autonoe_core::RunSpec::new(run, "work", serde_json::Value::Null);
    member.submit(&order).expect("writable");

    home.ask_pause("f").expect("writable");

    assert!(home.pause_asked("f").expect("readable"));
    assert!(member.is_pause_requested().expect("readable"));
    home.ask_resume("f").expect("writable");
    assert!(!home.pause_asked("f").expect("readable"));
    assert!(!member.is_pause_requested().expect("readable"));
    home.ask_stop("f", "enough").expect("writable");
    home.ask_stop("f", "too late").expect("writable");
    assert_eq!(
        home.stop_asked("f").expect("readable").as_deref(),
        Some("enough")
    );
    // Nobody leads it who would tell the member.
    let asked = member.stop_requested().expect("readable");
    assert_eq!(asked.as_deref(), Some("enough"));
    let ignored = std::fs::read_to_string(home.path().join(".gitignore"));
    assert_eq!(ignored.expect("a file"), "*\n");
}
