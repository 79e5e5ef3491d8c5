//! Tests of `AUTONOE_NO_SANDBOX`: invalid values are reported, and the sandbox stays on.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::commands::fixture::{CommandOutput, Fixture};

fn with(value: &[u8], args: &[&str]) -> CommandOutput {
    let setting = Fixture::new().file("SPEC.md", "# Shop\n");
    let mut command = setting.command(args);
    command.env("AUTONOE_NO_SANDBOX", OsStr::from_bytes(value));
    setting.command_output(command.output().expect("it starts"))
}

const TOLD: &str = "so the sandbox stays on";

#[test]
fn an_invalid_value_is_reported_and_leaves_the_sandbox_on() {
    for value in [&b"true"[..], b"yes", b"on", b"2", b" 1", b"\xff"] {
        let dry = with(value, &["run", "--dry-run"]);
        assert_eq!(dry.code, 0, "{}", dry.screen());
        assert!(dry.stderr.contains(TOLD), "{}", dry.screen());
        assert!(!dry.stdout.contains(" off "), "{}", dry.screen());

        let doctor = with(value, &["doctor"]);
        assert!(doctor.stdout.contains(TOLD), "{}", doctor.screen());
        assert!(
            !doctor.stdout.contains("switched off"),
            "{}",
            doctor.screen()
        );
    }
}

#[test]
fn known_values_print_no_warning() {
    for value in [&b""[..], b"0", b"false", b"no", b"off", b"FALSE", b"1"] {
        for args in [&["run", "--dry-run"][..], &["doctor"]] {
            let output = with(value, args);
            assert!(!output.screen().contains(TOLD), "{}", output.screen());
            let is_off = output.stdout.contains("switched off");
            assert_eq!(
                is_off,
                value == b"1" && args == ["doctor"],
                "{}",
                output.screen()
            );
        }
    }
    let by_flag = with(b"true", &["run", "--dry-run", "--no-sandbox"]);
    assert!(!by_flag.screen().contains(TOLD), "{}", by_flag.screen());
}

#[test]
fn escape_characters_of_the_value_are_not_printed() {
    let output = with(b"\x1b[2Jtrue", &["run", "--dry-run"]);

    assert!(!output.stderr.contains('\x1b'), "{}", output.screen());
}
