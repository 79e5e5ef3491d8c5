//! How long a program lives.

/// How long a program lives.
///
/// The sessions of a run follow each other, so one program can serve them all, each with a
/// conversation of its own. Before the next one it is made sure that nothing of the last one is
/// left: processes, files that the program reads, settings.
///
/// ```
/// use autonoe_codex::{CodexOptions, ProgramLife};
///
/// let options = CodexOptions::new("/opt/codex", []);
/// assert_eq!(options.program_life, ProgramLife::Run);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramLife {
    /// As long as the run: the next session has it, too, if it would start it in the same way and
    /// everything is as it was. Sessions side by side have one each.
    #[default]
    Run,
    /// As long as a session. What an agent has done to the memory of its program, which the system
    /// may let it do, ends with the session then.
    Session,
}
