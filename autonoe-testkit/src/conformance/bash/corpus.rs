//! Suite for the public corpus of commands with their expected verdicts.

use autonoe_core::Mode;
use autonoe_core::gate::policy::{
    BashSecurity, Destructive, Policy, PolicyConfig, Profile, Verdict,
};
use autonoe_security::corpus;
use autonoe_security::{AllowCommands, PolicyScope};
use serde::Deserialize;

use crate::conformance::checks::{Checks, Conformance, Flaw};

/// Checks an implementation of the project's Bash policy against the whole corpus.
///
/// `make` receives the policy of each case and returns the validator for it. There is one check per
/// file of the corpus; a failed check names the cases.
///
/// ```
/// use autonoe_core::gate::policy::BashValidator;
/// use autonoe_testkit::conformance;
///
/// conformance::bash_security(BashValidator::new).assert();
/// ```
pub fn bash_security<J: BashSecurity>(make: impl Fn(Policy) -> J) -> Conformance {
    let mut checks = Checks::new("bash security");
    for file in corpus::files() {
        let name = format!("every case of {} gets its verdict", file.name);
        checks.run_sync(&name, || {
            let mut wrong = Vec::new();
            for line in file.text.lines() {
                let case: Case = serde_json::from_str(line)
                    .map_err(|error| Flaw::Failed(format!("{line}: {error}")))?;
                let verdict = make(case.policy()).check(&case.command);
                let expected = case.expect == Expected::Allow;
                if verdict.is_allowed() != expected {
                    wrong.push(format!(
                        "{} {:?}: {}",
                        case.id,
                        case.command,
                        describe_verdict(&verdict)
                    ));
                }
            }
            if wrong.is_empty() {
                Ok(())
            } else {
                Err(Flaw::Failed(wrong.join("\n")))
            }
        });
    }
    checks.finish()
}

fn describe_verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow => "it is allowed".to_owned(),
        Verdict::Deny(denial) => format!("it is denied: {denial}"),
    }
}

/// A command, the policy that applies to it, and the expected verdict.
#[derive(Clone, Debug, Deserialize)]
struct Case {
    /// The id of the case.
    id: String,
    /// The expected verdict.
    expect: Expected,
    /// The command.
    command: String,
    mode: Mode,
    profile: Option<Profiles>,
    allow_destructive: bool,
    allow_commands: Vec<String>,
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    /// The command is allowed.
    Allow,
    /// The command is denied.
    Deny,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Profiles {
    One(Profile),
    Several(Vec<Profile>),
}

impl Case {
    /// Returns the policy of the case for the project `/srv/project`.
    fn policy(&self) -> Policy {
        let scope = PolicyScope {
            mode: self.mode,
            ..PolicyScope::new("/srv/project")
        };
        let config = PolicyConfig {
            profiles: self.profile.as_ref().map(|profiles| match profiles {
                Profiles::One(profile) => [*profile].into(),
                Profiles::Several(profiles) => profiles.iter().copied().collect(),
            }),
            allow_commands: AllowCommands::List(self.allow_commands.iter().cloned().collect()),
            destructive: if self.allow_destructive {
                Destructive::Allowed
            } else {
                Destructive::Forbidden
            },
            ..PolicyConfig::default()
        };
        Policy::new(scope, config).expect("the corpus has good policies")
    }
}
