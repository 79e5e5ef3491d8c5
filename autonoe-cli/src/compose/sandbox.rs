//! Whether the sandbox is on, and who said so.

use autonoe_core::{Sandbox, SandboxSwitch};

use crate::surroundings::Surroundings;

/// Resolves the switch: the flag, then `AUTONOE_NO_SANDBOX=1`, then on.
pub(crate) fn sandbox_switch(no_sandbox: bool, surroundings: &Surroundings) -> SandboxSwitch {
    let by_environment = surroundings.variable("AUTONOE_NO_SANDBOX") == Some("1");
    let off = |is_off: bool| is_off.then_some(Sandbox::Off);
    SandboxSwitch::resolve(off(no_sandbox), off(by_environment))
}
