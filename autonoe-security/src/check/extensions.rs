//! Commands that the user adds to the policy.

use super::call::{Call, Checked};
use super::{path, remedy};
use crate::policy::{Mode, Policy};
use crate::{Denial, Rule};

/// Commands that cannot be added: they delete, or change the meaning of other commands.
const NEVER: &[&str] = words!(
    "rm mv eval exec trap source . alias unalias enable hash bind builtin complete compgen compopt",
    "fc history pushd popd let",
);

/// Commands whose addition is never advised: they delete, or act as another user or on another
/// machine.
const HARMFUL: &[&str] = words!("dd doas scp shred ssh su sudo truncate unlink");

/// Builtins that are unrestricted once they are added.
const FREE_BUILTINS: &[&str] = words!("kill umask ulimit dirs fg bg suspend logout help caller");

/// Returns whether the command `name`, which may be a path, can never be added.
pub(crate) fn cannot_be_added(name: &str) -> bool {
    NEVER.contains(&path::file_name(name))
}

/// Returns whether the user has added the command.
pub(crate) fn is_added(policy: &Policy, name: &str, written: &str) -> bool {
    let added = policy.extensions();
    !added.is_empty() && !NEVER.contains(&name) && (added.contains(name) || added.contains(written))
}

/// Returns whether the operator has added a known command, and so removed its restrictions.
pub(crate) fn is_unrestricted(call: &Call<'_, '_, '_>) -> bool {
    is_added(call.policy(), call.name, call.name)
}

/// Returns whether an added builtin accepts any arguments.
pub(crate) fn is_free_builtin(name: &str) -> bool {
    FREE_BUILTINS.contains(&name)
}

/// Alternatives to commands that agents often request.
const ALTERNATIVES: &[(&[&str], &str)] = &[
    (
        words!("ed perl"),
        "change files with sed -i or the Edit tool, and search them with sed -n, awk or grep",
    ),
    (
        words!("dd install truncate"),
        "create files with touch, tee, cp, a redirection or the Write tool",
    ),
    (
        words!("less more nano vi vim"),
        "use cat, head, tail or sed -n '10,20p' FILE",
    ),
    (
        words!("mysql psql"),
        "use the database client of the project's language, or its migrations",
    ),
    (words!("zgrep zless"), "use zcat FILE | grep PATTERN"),
    (words!("lsb_release"), "use cat /etc/os-release"),
    (
        words!("unlink"),
        "leave it in place, or use git rm for tracked files",
    ),
    (
        words!("dash fish ksh zsh"),
        "use bash -c 'COMMANDS' with literal commands",
    ),
    (words!("ant sbt"), "run the commands of its recipe"),
    (
        words!("gradlew mvnw"),
        "run the wrapper of the project by its path: ./gradlew or ./mvnw",
    ),
    (
        words!("http ncat netcat wget"),
        "test local servers with curl http://localhost:80, and read web pages with WebFetch, if you \
         have it",
    ),
    (
        words!("fuser killall skill xkill"),
        "end a server with kill $(lsof -ti:PORT), and your own jobs with kill %1 or kill $!",
    ),
    (
        words!("apk apt apt-get brew dnf doas su sudo yum"),
        "work with what is installed, and with packages of the project",
    ),
];

/// Returns the alternative to the command `name`.
fn alternative(mode: Mode, name: &str) -> &'static str {
    let mut known = ALTERNATIVES.iter();
    match (mode, known.find(|(names, _)| names.contains(&name))) {
        (Mode::Run, Some((_, alternative))) => alternative,
        (Mode::Run, None) => {
            "use a file tool or another command; if there is none, leave this out and name the \
             command in your last message"
        }
        (Mode::Sync, _) => {
            "verify with another command; if there is none, leave this out and name the command in \
             your last message"
        }
    }
}

/// Creates the denial of a command that is on no list.
pub(crate) fn not_in_allowlist(call: &Call<'_, '_, '_>) -> Denial {
    let name = call.name;
    let reason = format!("Command '{name}' is not in the allowlist");
    let listed = call.policy().config().allow_commands.is_listed(name);
    if NEVER.contains(&name) {
        return call.deny(Rule::R71, reason).instead(match name {
            "rm" | "mv" => "use git rm or git mv for tracked files, and leave others in place",
            "pushd" | "popd" => "use ( cd DIRECTORY && COMMAND )",
            _ => "run the commands directly",
        });
    }
    let rule = if listed { Rule::R70 } else { Rule::R7 };
    let mut denial = call
        .deny(rule, reason)
        .instead(alternative(call.mode(), name));
    if !HARMFUL.contains(&name) {
        denial.remedy = remedy::command(call.policy(), name);
    }
    denial
}

/// Judges a command that the user added: the commands inside of wrappers are still judged.
pub(crate) fn check(call: &Call<'_, '_, '_>) -> Checked {
    super::commands::wrapper(call.name).map_or(Ok(()), |unwrap| unwrap(call))
}
