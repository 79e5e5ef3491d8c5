//! The contract of everything that judges Bash commands.

use crate::{Denial, Layer, Verdict};

/// Judges Bash commands before an agent runs them.
///
/// An implementer owes:
/// - the same verdict for the same command, whatever was asked before;
/// - an answer for any text, without panicking, in time linear in its length;
/// - a denial for anything that it does not fully understand.
///
/// A caller may assume that `Allow` covers the whole text: every command in
/// it, wherever it stands. It is *not* a sandbox: a program that is allowed to
/// run can still do whatever it likes.
///
/// Closures `Fn(&str) -> Verdict` implement it, which is handy in tests.
///
/// ```
/// use autonoe_security::{BashSecurity, Denial, Layer, Verdict};
///
/// struct NoNetwork;
///
/// impl BashSecurity for NoNetwork {
///     fn check(&self, command: &str) -> Verdict {
///         match command.find("curl") {
///             Some(at) => Verdict::Deny(
///                 Denial::new("no-network", Layer::User, "Command 'curl' is not in the allowlist")
///                     .at(at..at + 4),
///             ),
///             None => Verdict::Allow,
///         }
///     }
/// }
///
/// let verdict = NoNetwork.check("ls && curl example.com");
/// assert_eq!(verdict.denial().and_then(|denial| denial.span.clone()), Some(6..10));
/// ```
pub trait BashSecurity: Send + Sync {
    /// Judges `command`, the whole text that would be handed to Bash.
    fn check(&self, command: &str) -> Verdict;
}

impl<F> BashSecurity for F
where
    F: Fn(&str) -> Verdict + Send + Sync,
{
    fn check(&self, command: &str) -> Verdict {
        self(command)
    }
}

/// Denies every command. What a run uses until it is given a policy.
///
/// ```
/// use autonoe_security::{BashSecurity, DenyAll};
///
/// assert!(!DenyAll.check("ls").is_allowed());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl BashSecurity for DenyAll {
    fn check(&self, _command: &str) -> Verdict {
        Verdict::Deny(
            Denial::new("deny-all", Layer::Baseline, "no Bash policy is configured")
                .instead("work without the shell, or configure a Bash policy for this run"),
        )
    }
}
