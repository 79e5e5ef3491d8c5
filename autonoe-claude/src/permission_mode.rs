//! [`ClaudePermissionMode`]: treatment of calls that no hook decided about.

/// The program's treatment of calls that no hook decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaudePermissionMode {
    /// It requests permission.
    Default,
    /// Files in the project may be changed; it requests permission for the rest.
    AcceptEdits,
    /// It only plans.
    Plan,
    /// It refuses calls that are not allowed.
    DontAsk,
}

impl ClaudePermissionMode {
    /// Returns the program's name of the mode.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
        }
    }
}
