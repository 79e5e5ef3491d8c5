//! [`SandboxSwitch`], the operator's sandbox setting and its source.

use crate::agent::Sandbox;

/// Whether a sandbox is required, and the source of that setting.
///
/// The caller that starts a run passes it in; a configuration file cannot change it. The library
/// does not read the environment, so the caller does.
///
/// ```
/// use autonoe_core::agent::Sandbox;
/// use autonoe_core::project::{SandboxSwitch, SwitchSource};
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
    // Private, so that the sandbox is not off by default.
    sandbox: Sandbox,
    source: SwitchSource,
}

/// The source of the sandbox setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SwitchSource {
    /// The operator, on the command line.
    Flag,
    /// The environment of the program.
    Environment,
    /// The default.
    #[default]
    Default,
}

impl SandboxSwitch {
    /// Uses the value of the command line, otherwise that of the environment, otherwise requires a
    /// sandbox.
    pub fn resolve(flag: Option<Sandbox>, environment: Option<Sandbox>) -> Self {
        let by = |source| move |sandbox| Self { sandbox, source };
        flag.map(by(SwitchSource::Flag))
            .or(environment.map(by(SwitchSource::Environment)))
            .unwrap_or_default()
    }

    /// Returns whether a sandbox is required.
    pub fn sandbox(self) -> Sandbox {
        self.sandbox
    }

    /// Returns the source of the setting.
    pub fn source(self) -> SwitchSource {
        self.source
    }

    /// Returns a warning for the operator if the sandbox is off.
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
