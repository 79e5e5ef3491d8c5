//! Markers that this program inherited and passes on to its children.

use std::fs;

use autonoe_process::{Marker, ProcessRunner};

use crate::fixture::{DEADLINE, Fixture, HOST_MARKER};

#[tokio::test]
async fn an_inherited_marker_is_on_every_launched_process() {
    if let Some(fixture) = Fixture::as_host() {
        // The host was started with this variable.
        let marker = Marker::new(HOST_MARKER, fixture.marker.value()).expect("valid");
        let other = Marker::new(HOST_MARKER, "another").expect("valid");
        assert!(marker.propagate());
        assert!(!other.propagate());

        environ_in(&fixture, "plain", &[]).await;
        environ_in(&fixture, "overridden", &[(HOST_MARKER, "its own")]).await;
        return;
    }
    let fixture = Fixture::new();
    let test = "inherited_markers::an_inherited_marker_is_on_every_launched_process";

    fixture.start_host(test).end().expect("it passes");

    let carried = format!("{HOST_MARKER}={}", fixture.marker.value());
    assert!(variables(&fixture, "plain").contains(&carried));
    let own = format!("{HOST_MARKER}=its own");
    let overridden = variables(&fixture, "overridden");
    assert!(overridden.contains(&own) && !overridden.contains(&carried));
}

#[test]
fn a_marker_that_this_program_was_not_started_with_is_not_inherited() {
    let fixture = Fixture::new();

    assert!(!fixture.marker.propagate());
}

/// Runs a command that writes its environment to the file `name`.
async fn environ_in(fixture: &Fixture, name: &str, variables: &[(&str, &str)]) {
    let commands = ProcessRunner::unconfined(fixture.folder())
        .env("PATH", std::env::var_os("PATH").expect("set"))
        .envs(variables.iter().copied());
    let command = ["cp", "/proc/self/environ", name].map(str::to_owned);
    let ended = commands.run(&command, DEADLINE).await;
    ended.expect("it is known how it ended");
}

fn variables(fixture: &Fixture, name: &str) -> Vec<String> {
    let environ = fs::read_to_string(fixture.path(name)).expect("it was written");
    environ.split_terminator('\0').map(str::to_owned).collect()
}
