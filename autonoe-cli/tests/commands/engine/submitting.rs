//! Runs that are submitted and left to the cluster.

use autonoe_core::{Placement, SessionsRun};
use serde_json::Value;

use super::cluster::{cluster, on_shop};
use crate::commands::setting::Setting;

#[test]
fn a_run_is_submitted_and_its_new_id_is_the_result() {
    let (setting, cluster) = cluster();

    let said = setting.autonoe(&["submit", "shop", "-n", "7", "--host", "build-1"]);

    let id = said.stdout.trim();
    assert_eq!((said.code, id.len()), (0, 32), "{}", said.screen());
    let run = cluster.run(id).expect("it is there");
    let sessions: SessionsRun = serde_json::from_value(run.spec.input).expect("sessions");
    assert_eq!(sessions.project().expect("a project").as_str(), "shop");
    assert_eq!(sessions.limits.max_iterations, Some(7));
    assert_eq!(run.place, Placement::on("build-1"));
    assert!(
        said.stderr
            .contains(&format!("autonoe engine logs {id} --follow"))
    );
    assert!(said.stderr.contains(&format!("autonoe engine cancel {id}")));
}

#[test]
fn the_same_again_finds_the_run_and_another_one_is_refused() {
    let (setting, cluster) = cluster();
    let submit = ["submit", "shop", "--run", "shop-1"];

    let first = setting.autonoe(&submit);
    let second = setting.autonoe(&submit);
    let other = setting.autonoe(&["submit", "shop", "--run", "shop-1", "--mode", "sync"]);

    assert_eq!((first.code, first.stdout.as_str()), (0, "shop-1\n"));
    assert_eq!((second.code, second.stdout.as_str()), (0, "shop-1\n"));
    assert_eq!(
        cluster.run("shop-1").expect("it is there").spec,
        on_shop("shop-1")
    );
    insta::assert_snapshot!(other.screen(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is another run shop-1 already, which is to do something else
      hint: say the same as before to find that run, or leave --run out for another one
    ");
}

#[test]
fn a_program_is_told_the_id_as_json() {
    let (setting, _) = cluster();

    let said = setting.autonoe(&["submit", "shop", "--run=a", "--output=json", "--quiet"]);

    let told: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(told, serde_json::json!({"run": "a"}));
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
}

#[test]
fn what_is_said_of_the_server_is_handed_on() {
    let (setting, cluster) = cluster();
    let place = [
        "--engine-config=c.json",
        "--address=http://h:1",
        "--queue=q",
    ];

    let submitted = setting.autonoe(&[&["submit", "shop", "--run=a"], &place[..]].concat());
    let asked = setting.autonoe(&[&["engine", "status", "a"], &place[..]].concat());

    assert_eq!((submitted.code, asked.code), (0, 0), "{}", asked.screen());
    let follow = format!("`autonoe engine logs a --follow {}`", place.join(" "));
    assert!(submitted.stderr.contains(&follow), "{}", submitted.screen());
    let told = "engine --config=c.json --address=http://h:1 --queue=q\n";
    assert_eq!(cluster.asked(), told.repeat(2));
}

#[test]
fn what_is_no_name_of_a_project_is_wrong_usage() {
    let said = Setting::new().autonoe(&["submit", "../shop"]);

    assert_eq!(said.code, 2);
    assert!(
        said.stderr.contains("no name of a project"),
        "{}",
        said.stderr
    );
}

#[test]
fn what_is_no_id_of_a_run_is_wrong_usage() {
    for id in ["../x", "-x", "a\nb", "a\u{1b}[2Jb"] {
        let (setting, cluster) = cluster();

        let said = setting.autonoe(&["submit", "shop", &format!("--run={id}")]);

        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{id:?}");
        let words = "an id of a run has letters";
        assert!(said.stderr.contains(words), "{}", said.screen());
        assert!(!said.stderr.contains('\u{1b}'), "{:?}", said.stderr);
        assert_eq!(cluster.run(id), None);
    }
}
