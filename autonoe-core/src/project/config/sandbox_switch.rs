//! Who switched the sandbox.

use crate::port::Sandbox;

/// Whether there must be a sandbox, and who said so.
///
/// Whoever starts a run passes it in; a configuration file cannot touch it. The
/// library does not read the environment, so the caller does.
///
/// ```
/// use autonoe_core::{Sandbox, SandboxSwitch, SwitchSource};
///
/// let by_nobody = SandboxSwitch::resolve(None, None);
/// assert_eq!(by_nobody.sandbox(), Sandbox::Required);
///
/// let switch = SandboxSwitch::resolve(None, Some(Sandbox::Off));
/// assert_eq!((switch.sandbox(), switch.source()), (Sandbox::Off, SwitchSource::Environment));
/// assert!(switch.warning().is_some());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SandboxSwitch {
    // Private, so that nothing is switched off by default.
    sandbox: Sandbox,
    source: SwitchSource,
}

/// Who switched the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SwitchSource {
    /// A person, on the command line.
    Flag,
    /// The environment of the program.
    Environment,
    /// Nobody.
    #[default]
    Default,
}

impl SandboxSwitch {
    /// Takes what the command line says, else what the environment says, else requires a sandbox.
    pub fn resolve(flag: Option<Sandbox>, environment: Option<Sandbox>) -> Self {
        let by = |source| move |sandbox| Self { sandbox, source };
        flag.map(by(SwitchSource::Flag))
            .or(environment.map(by(SwitchSource::Environment)))
            .unwrap_or_default()
    }

    /// Returns whether there must be a sandbox.
    pub fn sandbox(self) -> Sandbox {
        self.sandbox
    }

    /// Returns who said so.
    pub fn source(self) -> SwitchSource {
        self.source
    }

    /// Returns what to tell a person when the sandbox is off.
    pub fn warning(self) -> Option<&'static str> {
        match (self.sandbox, self.source) {
            (Sandbox::Required, _) => None,
            (Sandbox::Off, SwitchSource::Environment) => Some(
                "the sandbox is switched off by the environment: commands of agents reach \
                 everything that you can reach",
            ),
            (Sandbox::Off, SwitchSource::Flag | SwitchSource::Default) => Some(
                "the sandbox is switched off: commands of agents reach everything that you can \
                 reach",
            ),
        }
    }
}
