//! The [`BashSecurity`] trait: the contract of every validator of Bash commands.

use std::sync::Arc;

use crate::{Denial, Layer, PolicyScope, ScopeMismatch, Verdict};

/// Validator of Bash commands: checks each one before an agent runs it.
///
/// An implementation must:
/// - return the same verdict for the same command, whatever it checked before;
/// - return a verdict for any text, without panicking, in time linear in its length;
/// - deny everything that it does not fully understand.
///
/// A caller may assume that `Allow` covers the whole text: every command in it, at any nesting
/// level. It is *not* a sandbox: an allowed program can still do anything.
///
/// Closures `Fn(&str) -> Verdict` implement it, which is useful in tests.
///
/// ```
/// use autonoe_security::{BashSecurity, Denial, Layer, PolicyScope, ScopeMismatch, Verdict};
///
/// /// Allows a few whole texts, which is the only safe way without a parser.
/// struct OnlyTests;
///
/// impl BashSecurity for OnlyTests {
///     fn check(&self, command: &str) -> Verdict {
///         match command {
///             "cargo test" | "npm test" => Verdict::Allow,
///             _ => Verdict::Deny(
///                 Denial::new("only-tests", Layer::User, "only tests are run here")
///                     .instead("use cargo test or npm test"),
///             ),
///         }
///     }
///
///     // The scope is the same in every run.
///     fn check_scope(&self, _run: &PolicyScope) -> Result<(), ScopeMismatch> {
///         Ok(())
///     }
/// }
///
/// assert!(OnlyTests.check("cargo test").is_allowed());
/// assert!(!OnlyTests.check("cargo test; ls").is_allowed());
/// ```
pub trait BashSecurity: Send + Sync {
    /// Checks `command`, the complete text that would be passed to Bash.
    fn check(&self, command: &str) -> Verdict;

    /// Checks that the validator was built for a run with the mode and the directories of `run`.
    ///
    /// A runner calls it once, before the first session. A validator that wraps another one calls
    /// its method. A validator that depends on neither returns `Ok(())`.
    ///
    /// # Errors
    ///
    /// If the validator was built for another mode, another directory or another home.
    fn check_scope(&self, run: &PolicyScope) -> Result<(), ScopeMismatch>;

    /// Adds a validator: a command is allowed if both allow it.
    ///
    /// The other validator can only add denials. If both deny a command, the first denial is
    /// returned.
    ///
    /// ```
    /// use autonoe_security::{
    ///     BashSecurity, BashValidator, Denial, Layer, Policy, PolicyConfig, Verdict,
    /// };
    ///
    /// let policy = BashValidator::new(Policy::new("/srv/project", PolicyConfig::default())?);
    /// let split_command = policy.clone();
    /// // A word that is unknown before the command runs may be any word.
    /// let may_be = |word: &Option<String>, text: &str| {
    ///     word.as_deref().is_none_or(|word| word.rsplit('/').next() == Some(text))
    /// };
    /// let no_push = move |command: &str| {
    ///     for found in split_command.explain(command).commands {
    ///         let pushes = found.invocations().into_iter().any(|words| {
    ///             words.split_first().is_some_and(|(name, arguments)| {
    ///                 may_be(name, "git") && arguments.iter().any(|word| may_be(word, "push"))
    ///             })
    ///         });
    ///         if pushes || found.starts_unknown {
    ///             let denial = Denial::new("no-push", Layer::User, "people push, agents do not");
    ///             return Verdict::Deny(denial.at(found.span.clone()));
    ///         }
    ///     }
    ///     Verdict::Allow
    /// };
    ///
    /// let validator = policy.and(no_push);
    ///
    /// assert!(validator.check("git fetch && git status").is_allowed());
    /// assert!(!validator.check("git fetch && timeout 60 git push").is_allowed());
    /// assert!(!validator.check("x=push; git \"$x\"").is_allowed());
    /// assert!(!validator.check("curl https://example.com").is_allowed());
    /// # Ok::<(), autonoe_security::PolicyError>(())
    /// ```
    fn and<J: BashSecurity>(self, other: J) -> And<Self, J>
    where
        Self: Sized,
    {
        And(self, other)
    }

    /// Adds a validator for the commands for which `condition` holds.
    ///
    /// This validator still checks every command, so that the other one can only add denials.
    ///
    /// ```
    /// use autonoe_security::{BashSecurity, BashValidator, DenyAll, Policy, PolicyConfig};
    ///
    /// let policy = BashValidator::new(Policy::new("/srv/project", PolicyConfig::default())?);
    /// let short = policy.and_when(|command: &str| command.len() > 20, DenyAll);
    ///
    /// assert!(short.check("cargo test").is_allowed());
    /// assert!(!short.check("cargo test; cargo test").is_allowed());
    /// assert!(!short.check("sudo ls").is_allowed());
    /// # Ok::<(), autonoe_security::PolicyError>(())
    /// ```
    fn and_when<C, J>(self, condition: C, other: J) -> AndWhen<Self, C, J>
    where
        Self: Sized,
        C: Fn(&str) -> bool + Send + Sync,
        J: BashSecurity,
    {
        AndWhen {
            first: self,
            condition,
            other,
        }
    }
}

/// Two validators that must both allow a command: [`BashSecurity::and`].
#[derive(Clone, Copy, Debug)]
pub struct And<A, B>(A, B);

impl<A: BashSecurity, B: BashSecurity> BashSecurity for And<A, B> {
    fn check(&self, command: &str) -> Verdict {
        match self.0.check(command) {
            Verdict::Allow => self.1.check(command),
            denied => denied,
        }
    }

    fn check_scope(&self, run: &PolicyScope) -> Result<(), ScopeMismatch> {
        self.0.check_scope(run)?;
        self.1.check_scope(run)
    }
}

/// A validator of every command and another one of some commands: [`BashSecurity::and_when`].
#[derive(Clone, Copy, Debug)]
pub struct AndWhen<A, C, B> {
    first: A,
    condition: C,
    other: B,
}

impl<A, C, B> BashSecurity for AndWhen<A, C, B>
where
    A: BashSecurity,
    C: Fn(&str) -> bool + Send + Sync,
    B: BashSecurity,
{
    fn check(&self, command: &str) -> Verdict {
        match self.first.check(command) {
            Verdict::Allow if (self.condition)(command) => self.other.check(command),
            verdict => verdict,
        }
    }

    fn check_scope(&self, run: &PolicyScope) -> Result<(), ScopeMismatch> {
        self.first.check_scope(run)?;
        self.other.check_scope(run)
    }
}

impl<J: BashSecurity + ?Sized> BashSecurity for Arc<J> {
    fn check(&self, command: &str) -> Verdict {
        (**self).check(command)
    }

    fn check_scope(&self, run: &PolicyScope) -> Result<(), ScopeMismatch> {
        (**self).check_scope(run)
    }
}

impl<F> BashSecurity for F
where
    F: Fn(&str) -> Verdict + Send + Sync,
{
    fn check(&self, command: &str) -> Verdict {
        self(command)
    }

    fn check_scope(&self, _run: &PolicyScope) -> Result<(), ScopeMismatch> {
        Ok(())
    }
}

/// Denies every command. Runs use it until a policy is set.
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

    fn check_scope(&self, _run: &PolicyScope) -> Result<(), ScopeMismatch> {
        Ok(())
    }
}
