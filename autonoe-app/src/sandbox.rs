//! Resolution of the sandbox switch from the command line and the environment.

use std::ffi::OsStr;

use autonoe_core::agent::Sandbox;
use autonoe_core::project::SandboxSwitch;

use crate::Env;
use crate::text::shorten;

const VARIABLE: &str = "AUTONOE_NO_SANDBOX";

/// Resolves the switch: the flag, then `AUTONOE_NO_SANDBOX=1`, then on.
pub fn sandbox_switch(no_sandbox: bool, env: &Env) -> SandboxSwitch {
    let by_environment = EnvSetting::parse(value(env)) == EnvSetting::Off;
    let off = |is_off: bool| is_off.then_some(Sandbox::Off);
    SandboxSwitch::resolve(off(no_sandbox), off(by_environment))
}

/// Returns a warning if the value in the environment is invalid.
pub fn invalid_sandbox_warning(no_sandbox: bool, env: &Env) -> Option<String> {
    let value = value(env);
    let is_misread = !no_sandbox && EnvSetting::parse(value) == EnvSetting::Unknown;
    is_misread.then(|| {
        format!(
            "{VARIABLE} has the unknown value `{}`, so the sandbox stays on; set it to 1 to \
             switch the sandbox off, or to 0 to keep it on",
            shorten(&value.unwrap_or_default().to_string_lossy())
        )
    })
}

fn value(env: &Env) -> Option<&OsStr> {
    let value = env.environment.get(OsStr::new(VARIABLE))?;
    Some(value)
}

/// The setting of the sandbox in the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvSetting {
    /// On, or not set.
    On,
    Off,
    /// An invalid value. The sandbox stays on.
    Unknown,
}

impl EnvSetting {
    fn parse(value: Option<&OsStr>) -> Self {
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
        assert_eq!(EnvSetting::parse(None), EnvSetting::On);
        for (value, setting) in [
            (&b"1"[..], EnvSetting::Off),
            (b"", EnvSetting::On),
            (b"0", EnvSetting::On),
            (b"false", EnvSetting::On),
            (b"No", EnvSetting::On),
            (b"OFF", EnvSetting::On),
            (b"true", EnvSetting::Unknown),
            (b"yes", EnvSetting::Unknown),
            (b"on", EnvSetting::Unknown),
            (b" 1", EnvSetting::Unknown),
            (b"2", EnvSetting::Unknown),
            (b"\xff", EnvSetting::Unknown),
        ] {
            let value = OsStr::from_bytes(value);
            assert_eq!(EnvSetting::parse(Some(value)), setting, "{value:?}");
        }
    }
}
