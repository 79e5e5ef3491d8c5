//! Rules of the policy, with stable ids.

use std::fmt;

use crate::Layer;

/// A rule of the policy, as named by a denial.
///
/// The ids are stable: a rule keeps its id when its wording changes. [`Rule::all`] lists them, for
/// documentation or tests.
///
/// ```
/// use autonoe_security::Rule;
///
/// let rule = Rule::all().iter().find(|rule| rule.id() == "R7").ok_or("it is there")?;
///
/// assert_eq!(rule.code(), "not-in-allowlist");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule(&'static Facts);

#[derive(PartialEq, Eq, Hash)]
struct Facts {
    id: &'static str,
    code: &'static str,
    layer: Layer,
    rationale: &'static str,
}

impl Rule {
    /// Returns every rule, in the order of the policy.
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// Returns the id, for example `R7`.
    pub fn id(self) -> &'static str {
        self.0.id
    }

    /// Returns the code, which describes the subject in a word or two.
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// Returns the layer of the rule.
    pub fn layer(self) -> Layer {
        self.0.layer
    }

    /// Returns the rationale, in a clause.
    pub fn rationale(self) -> &'static str {
        self.0.rationale
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.0.id, self.0.code, self.0.rationale)
    }
}

macro_rules! rules {
    ($($id:ident $code:literal $layer:ident $rationale:literal)*) => {
        impl Rule {
            $(pub(crate) const $id: Self = Self(&Facts {
                id: stringify!($id),
                code: $code,
                layer: Layer::$layer,
                rationale: $rationale,
            });)*
        }

        const ALL: &[Rule] = &[$(Rule::$id),*];
    };
}

rules! {
    R1 "too-large" Grammar "the length and depth of commands are limited"
    R2 "forbidden-character" Grammar "control characters hide what a command does"
    R3 "not-understood" Grammar "the policy denies text that it does not fully understand"
    R4 "inner-command" Baseline "the policy checks every command in the text"
    R5 "dynamic-name" Baseline "the name of a command must be known before it runs"
    R6 "command-path" Baseline "programs run by name or from known places"
    R7 "not-in-allowlist" Profile "only commands of the active profiles and those that the operator added run"
    R8 "builtin" Baseline "this builtin changes what later commands mean"
    R9 "job-control" Baseline "a command may end only its own background jobs"
    R10 "shell-option" Baseline "shell options change what later commands mean"
    R11 "source" Baseline "the policy cannot see the commands of a sourced file"
    R12 "builtin-argument" Baseline "builtins evaluate the names and values of their arguments"
    R15 "protected-variable" Baseline "the variable changes which programs run or what they load"
    R16 "protected-value" Baseline "only harmless values of this variable are allowed"
    R18 "arithmetic" Baseline "arithmetic can run code in the value of a variable"
    R21 "dynamic-option" Baseline "the value can become an option"
    R24 "process-memory" Baseline "the environment and the memory of a process hold credentials"
    R25 "directory" Baseline "commands run inside the project or /tmp"
    R27 "dynamic-target" Baseline "the target of a write must be known before the command runs"
    R28 "write-target" Baseline "commands may write only to the project and /tmp"
    R29 "protected-path" Baseline "the path is protected"
    R30 "device" Baseline "devices and network paths are not files"
    R31 "protected-state" Baseline "only the tools of Autonoe may change its state"
    R33 "find" Baseline "find can run programs and write files"
    R34 "base-option" Baseline "the option runs a program or changes the system"
    R35 "timeout" Baseline "the policy checks the command that timeout starts"
    R36 "copy" Baseline "copies stay inside the project"
    R37 "chmod" Baseline "only files of the project may be made executable"
    R39 "pkill" Profile "commands may end only known development processes"
    R40 "git-global" Baseline "the option changes what git runs or where"
    R41 "git-subcommand" Baseline "the subcommand is not known to be harmless"
    R42 "git-config" Baseline "git's settings can name programs that it runs"
    R43 "git-option" Baseline "the option makes git run a program or leave the project"
    R44 "git-destructive" Baseline "discarded work cannot be recovered"
    R45 "git-sync" Mode "a sync must not change files, refs or settings"
    R51 "publishing" Baseline "agents must not publish or change accounts"
    R52 "machine-wide" Baseline "it changes the machine beyond the project"
    R53 "runs-another" Baseline "the option runs another program"
    R54 "runner" Baseline "the program that a runner starts must be known"
    R55 "hard-list" Baseline "a runner must not start this program"
    R56 "piped-code" Baseline "the policy cannot check code from the network"
    R60 "destructive" Baseline "this run must not delete or move files"
    R61 "destructive-option" Baseline "only well-known options of rm and mv are allowed"
    R62 "destructive-path" Baseline "rm and mv are allowed only inside the project"
    R63 "sync-base" Mode "a sync must not change files"
    R64 "sync-verification" Mode "a sync allows only commands that verify"
    R65 "sync-rewrite" Mode "a sync must not let tools rewrite files"
    R70 "sync-extension" Mode "the operator added it for run mode only"
    R71 "extension" User "some commands cannot be added"
    R72 "wrapper" User "the policy checks the command that a wrapper starts"
    R80 "sed" Baseline "a sed script may edit text, but not run commands or write files"
    R81 "awk" Baseline "an awk program may compute and print, but not run commands or write files"
    R82 "search" Baseline "search tools must not run other programs"
    R83 "reader" Baseline "only options that read and print are allowed"
    R84 "writer" Baseline "commands may change only known files of the project and /tmp"
    R85 "wrapped-command" Baseline "the policy checks the command that a wrapper starts"
    R86 "local-network" Baseline "only localhost is reachable"
    R87 "own-process" Baseline "an agent may end only its own processes"
    R88 "project-script" Baseline "only scripts and makefiles of the project may run"
    R89 "shell-form" Baseline "the text of a trap must be known and harmless"
    R90 "sync-environment" Mode "a sync allows only variables that are known to be harmless"
    R91 "environment" Baseline "the value of this variable can name a program, code, options or an output file"
    R92 "tool-option" Baseline "the option runs code that is not the project's, or writes outside the project"
    R93 "git-files" Baseline "git must not change protected files"
    R94 "credentials" Baseline "agents do not read credentials"
    R95 "built-name" Baseline "a suffix or prefix must not produce a protected name"
    R96 "system-information" Baseline "only options that print facts about the machine are allowed"
    R97 "archive" Baseline "archives may be listed, printed and created, but not extracted"
    R98 "temporary-file" Baseline "temporary files must be in /tmp or the project"
    R99 "database" Baseline "literal SQL may reach one database of the project, and nothing else"
    R100 "java-tool" Baseline "Java tools run code of the project and write inside it, and nothing else"
    R101 "c-tool" Baseline "compilers and build tools of C run code of the project and write inside it, and nothing else"
    R102 "searched-names" Baseline "the names that xargs reads must be known to stay in the project"
    R103 "tool-plugin" Baseline "an unknown subcommand runs a program that the policy does not know"
    R104 "project-tool" Baseline "tools of the project run its code and write inside it, and nothing else"
    R105 "patch" Baseline "a patch must be known, and may only add and change files"
    R106 "link" Baseline "links may lead only to other places of the project"
    R107 "container-status" Baseline "commands may show containers, but not run, change or enter them"
    R108 "language-tool" Baseline "tools of further languages build, test and check the project, and nothing else"
}
