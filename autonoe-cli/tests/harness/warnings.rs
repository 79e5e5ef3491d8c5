//! Warnings at the start of a fleet.

use crate::harness::fixture::Fixture;

#[test]
fn options_that_take_protection_away_are_warned_of_once() {
    let setting = Fixture::new();
    let agents = setting.usual_agents(&[]);
    let options = ["--allow-destructive", "--no-sandbox", "--backend", &agents];

    let ended = setting.run(&options).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let start = ended.stderr.split("parser started").next();
    for warning in [
        "--allow-destructive is on: agents can delete and move files",
        "the sandbox is switched off: commands of agents reach everything",
    ] {
        let in_start = start.map(|start| start.matches(warning).count());
        let in_all = ended.stderr.matches(warning).count();
        assert_eq!((in_start, in_all), (Some(1), 1), "{warning}: {ended:?}");
    }
}
