//! Whether the sandbox is on, and who said so.

use std::ffi::OsStr;

use autonoe_core::{Sandbox, SandboxSwitch};

use crate::present::shorten;
use crate::surroundings::Surroundings;

const VARIABLE: &str = "AUTONOE_NO_SANDBOX";

/// Resolves the switch: the flag, then `AUTONOE_NO_SANDBOX=1`, then on.
pub(crate) fn sandbox_switch(no_sandbox: bool, surroundings: &Surroundings) -> SandboxSwitch {
    let by_environment = Wish::of(value(surroundings)) == Wish::Off;
    let off = |is_off: bool| is_off.then_some(Sandbox::Off);
    SandboxSwitch::resolve(off(no_sandbox), off(by_environment))
}

/// Returns what to tell a person whose wish in the environment was not understood.
pub(crate) fn misread_sandbox(no_sandbox: bool, surroundings: &Surroundings) -> Option<String> {
    let value = value(surroundings);
    let is_misread = !no_sandbox && Wish::of(value) == Wish::Unknown;
    is_misread.then(|| {
        format!(
            "{VARIABLE} is `{}`, which is not understood: the sandbox stays on; \
             write 1 to switch it off, or 0 to keep it on",
            shorten(&value.unwrap_or_default().to_string_lossy())
        )
    })
}

fn value(surroundings: &Surroundings) -> Option<&OsStr> {
    let value = surroundings.environment.get(OsStr::new(VARIABLE))?;
    Some(value)
}

/// What the environment says about the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// It stays on, or nothing is said.
    On,
    Off,
    /// Something is said, and nobody knows what. What guards stays on.
    Unknown,
}

impl Wish {
    fn of(value: Option<&OsStr>) -> Self {
        let Some(value) = value else {
            return Self::On;
        };
        match value.to_str().map(str::to_ascii_lowercase).as_deref() {
            Some("1") => Self::Off,
            Some("" | "0" | "false" | "no" | "off") => Self::On,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    // Shows: spec/5.5/sandbox-on-by-default-flag
    #[test]
    fn only_1_switches_the_sandbox_off() {
        assert_eq!(Wish::of(None), Wish::On);
        for (value, wish) in [
            (&b"1"[..], Wish::Off),
            (b"", Wish::On),
            (b"0", Wish::On),
            (b"false", Wish::On),
            (b"No", Wish::On),
            (b"OFF", Wish::On),
            (b"true", Wish::Unknown),
            (b"yes", Wish::Unknown),
            (b"on", Wish::Unknown),
            (b" 1", Wish::Unknown),
            (b"2", Wish::Unknown),
            (b"\xff", Wish::Unknown),
        ] {
            let value = OsStr::from_bytes(value);
            assert_eq!(Wish::of(Some(value)), wish, "{value:?}");
        }
    }
}
