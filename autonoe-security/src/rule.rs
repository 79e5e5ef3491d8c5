//! The rules of the policy, by their stable ids.

use std::fmt;

use crate::Layer;

/// A rule of the policy, as a denial names it.
///
/// The ids are stable: a rule keeps its id when its wording changes.
/// [`Rule::all`] lists them, for a page of documentation or a test.
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
    why: &'static str,
}

impl Rule {
    /// Returns every rule, in the order of the policy.
    pub fn all() -> &'static [Self] {
        ALL
    }

    /// Returns its id, for example `R7`.
    pub fn id(self) -> &'static str {
        self.0.id
    }

    /// Returns its code, which says in a word or two what it is about.
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// Returns the layer that it belongs to.
    pub fn layer(self) -> Layer {
        self.0.layer
    }

    /// Returns why it is there, in a clause.
    pub fn why(self) -> &'static str {
        self.0.why
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.0.id, self.0.code, self.0.why)
    }
}

macro_rules! rules {
    ($($id:ident $code:literal $layer:ident $why:literal)*) => {
        impl Rule {
            $(pub(crate) const $id: Self = Self(&Facts {
                id: stringify!($id),
                code: $code,
                layer: Layer::$layer,
                why: $why,
            });)*
        }

        const ALL: &[Rule] = &[$(Rule::$id),*];
    };
}

rules! {
    R1 "too-large" Grammar "commands have a greatest length and depth"
    R2 "forbidden-character" Grammar "control characters hide what a command does"
    R3 "not-understood" Grammar "only what is fully understood can be judged"
    R4 "inner-command" Baseline "every command is judged, wherever it stands"
    R5 "dynamic-name" Baseline "the name of a command must be known before it runs"
    R6 "command-path" Baseline "programs run by name or from known places"
    R7 "not-in-allowlist" Profile "only commands of the active profiles and those that the operator added run"
    R8 "builtin" Baseline "this builtin changes what later commands mean"
    R9 "job-control" Baseline "only own background jobs may be ended"
    R10 "shell-option" Baseline "shell options change what later commands mean"
    R11 "source" Baseline "a sourced file runs unseen"
    R12 "builtin-argument" Baseline "builtins evaluate names and values that they are given"
    R15 "protected-variable" Baseline "the variable changes which programs run or what they load"
    R16 "protected-value" Baseline "only harmless values of this variable are known"
    R18 "arithmetic" Baseline "arithmetic runs code that hides in the value of a variable"
    R21 "dynamic-option" Baseline "the value could turn into an option"
    R24 "process-memory" Baseline "the environment and the memory of a process hold credentials"
    R25 "directory" Baseline "commands run inside the project or /tmp"
    R27 "dynamic-target" Baseline "where a command writes must be known before it runs"
    R28 "write-target" Baseline "writing is for the project and /tmp"
    R29 "protected-path" Baseline "the path is protected"
    R30 "device" Baseline "devices and network paths are not files"
    R31 "protected-state" Baseline "the state of Autonoe is changed through its tools only"
    R33 "find" Baseline "find would run or write something"
    R34 "base-option" Baseline "the option runs a program or changes the system"
    R35 "timeout" Baseline "the command that is timed is judged by itself"
    R36 "copy" Baseline "copies stay inside the project"
    R37 "chmod" Baseline "only files of the project may be made executable"
    R39 "pkill" Profile "only known development processes may be ended"
    R40 "git-global" Baseline "the option changes what git runs or where"
    R41 "git-subcommand" Baseline "the subcommand is not known to be harmless"
    R42 "git-config" Baseline "git's settings can name programs that it runs"
    R43 "git-option" Baseline "the option makes git run a program or leave the project"
    R44 "git-destructive" Baseline "discarded work cannot be recovered"
    R45 "git-sync" Mode "sync does not change the working tree"
    R51 "publishing" Baseline "publishing and accounts are for people"
    R52 "machine-wide" Baseline "it changes the machine beyond the project"
    R53 "runs-another" Baseline "the option runs another program"
    R54 "runner" Baseline "what a runner starts must be known"
    R55 "hard-list" Baseline "this program is not started through a runner"
    R56 "piped-code" Baseline "code from the network must not run unseen"
    R60 "destructive" Baseline "deleting and moving files is off in this run"
    R61 "destructive-option" Baseline "only well-known options of rm and mv are allowed"
    R62 "destructive-path" Baseline "deleting and moving stay strictly inside the project"
    R63 "sync-base" Mode "sync does not change files"
    R64 "sync-verification" Mode "sync runs only what verifies"
    R65 "sync-rewrite" Mode "sync does not let tools rewrite files"
    R70 "sync-extension" Mode "the operator added it for run mode only"
    R71 "extension" User "some commands cannot be added"
    R72 "wrapper" User "what a wrapper starts is judged by itself"
    R80 "sed" Baseline "a sed script may edit text, but not run commands or write files"
    R81 "awk" Baseline "an awk program may compute and print, but not run commands or write files"
    R82 "search" Baseline "search tools must not run other programs"
    R83 "reader" Baseline "only options that read and print are allowed"
    R84 "writer" Baseline "writers change known files of the project and /tmp"
    R85 "wrapped-command" Baseline "the command that a wrapper starts is judged by itself"
    R86 "local-network" Baseline "only localhost is reachable"
    R87 "own-process" Baseline "only processes of this work may be ended"
    R88 "project-script" Baseline "only scripts and makefiles of the project run"
    R89 "shell-form" Baseline "the text of a trap must be known and harmless"
    R90 "sync-environment" Mode "sync gives commands only variables that are known to be harmless"
    R91 "environment" Baseline "a program runs, loads, reads options from or writes what the variable names"
    R92 "tool-option" Baseline "the option runs code that is not the project's, or writes outside the project"
    R93 "git-files" Baseline "git must not change protected files"
    R94 "credentials" Baseline "agents do not read credentials"
    R95 "built-name" Baseline "a suffix or a prefix must not make a protected name"
    R96 "system-information" Baseline "only options that print facts about the machine are allowed"
    R97 "archive" Baseline "archives are listed, printed and packed, not unpacked"
    R98 "temporary-file" Baseline "temporary files lie in /tmp or the project"
    R99 "database" Baseline "literal SQL may reach one database of the project, and nothing else"
}
