//! Tests that agents start only in a sandbox, unless the operator switches it off.

use std::net::TcpListener;

use autonoe_testkit::model_server::Turn;
use serde_json::json;

use crate::models::fixture::{Fixture, passes, plans};
use crate::models::vendor::Vendor;

/// Replaces bubblewrap, as on a machine that forbids namespaces.
const FORBIDDEN: &str = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1";

#[test]
fn missing_sandbox_prevents_run_and_prints_hint() {
    let vendor = Vendor::Chat;
    let server = vendor.serve(Vec::<Turn>::new());
    let fixture = Fixture::on(vendor, &server);
    fixture.program("bwrap", FORBIDDEN);

    let output = fixture.run(vendor, &[]);
    let backend = format!("--backend=model:scripted/{}", vendor.model());
    let doctor = fixture.autonoe(&["doctor", &backend]);

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output
            .stdout
            .contains("does not support the setting `sandbox`: ")
            && output.stderr.contains("hint: "),
        "{output:?}"
    );
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(
        doctor
            .stdout
            .contains("bubblewrap cannot create a sandbox on this system"),
        "{doctor:?}"
    );
    assert!(
        server.log().exchanges().is_empty(),
        "somebody asked a model"
    );
}

#[test]
fn no_sandbox_option_runs_without_bubblewrap() {
    let vendor = Vendor::Chat;
    let server = vendor.serve([
        plans(),
        Turn::text("Planned."),
        Turn::tool("Bash", json!({"command": "echo here > made.txt"})),
        passes(),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::on(vendor, &server);
    fixture.program("bwrap", FORBIDDEN);

    let output = fixture.run(vendor, &["--no-sandbox"]);

    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(fixture.read("made.txt"), "here\n");
}

#[test]
fn a_command_leaves_no_trace_outside_and_has_no_network() {
    let vendor = Vendor::Chat;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("ours");
    let port = listener.local_addr().expect("bound").port();
    // In a file, because a command that the policy denies would not test the sandbox.
    let script = format!(
        "import os, socket\n\
         def tried(what, act):\n\
         \x20   try: act(); print(what, 'worked')\n\
         \x20   except OSError as error: print(what, 'failed')\n\
         tried('inside', lambda: open('inside.txt', 'w').close())\n\
         tried('outside', lambda: open('../outside.txt', 'w').close())\n\
         tried('home', lambda: open('../home/made.txt', 'w').close())\n\
         tried('network', lambda: socket.create_connection(('127.0.0.1', {port}), 5))\n"
    );
    for (network, worked) in [("off", "failed"), ("shared", "worked")] {
        let server = vendor.serve([
            plans(),
            Turn::text("Planned."),
            Turn::tool("Bash", json!({"command": "python3 attempts.py"})),
            passes(),
            Turn::text("Done."),
        ]);
        let fixture = Fixture::with_file(&json!({
            "providers": {"scripted": vendor.spec(&server)}, "tools": {"network": network},
        }));
        fixture.write("attempts.py", &script);
        fixture.write("requirements.txt", "");

        let output = fixture.run(vendor, &[]);

        assert_eq!(output.code, Some(0), "{output:?}");
        let requests = server.log().main_requests();
        let results = requests.last().expect("somebody asked").tool_results();
        let expected = format!("inside worked\noutside failed\nhome failed\nnetwork {worked}\n");
        assert_eq!(results[0].text, expected);
        assert!(fixture.root().join("inside.txt").exists());
        assert!(!fixture.root().join("../outside.txt").exists());
        assert!(!fixture.root().join("../home/made.txt").exists());
        assert_eq!(listener.accept().is_ok(), network == "shared");
    }
}
