//! Programs that tests need beside the CLIs, from Debian's packages: those of the sandbox, a browser, and
//! the ones that tests of the Bash policy run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo;
use crate::failure::Failure;

/// A program and the Debian package that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tool {
    program: &'static str,
    package: &'static str,
}

const TOOLS: [Tool; 11] = [
    Tool {
        program: "bwrap",
        package: "bubblewrap",
    },
    Tool {
        program: "socat",
        package: "socat",
    },
    Tool {
        program: "chromium",
        package: "chromium",
    },
    Tool {
        program: "bzip2",
        package: "bzip2",
    },
    Tool {
        program: "curl",
        package: "curl",
    },
    Tool {
        program: "jq",
        package: "jq",
    },
    Tool {
        program: "ps",
        package: "procps",
    },
    Tool {
        program: "sqlite3",
        package: "sqlite3",
    },
    Tool {
        program: "unzip",
        package: "unzip",
    },
    Tool {
        program: "xz",
        package: "xz-utils",
    },
    Tool {
        program: "zip",
        package: "zip",
    },
];

/// Action for missing programs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    /// Install these packages.
    Install(Vec<&'static str>),
    /// Print this: the user has to install them.
    Print(String),
}

/// Whether this process can install packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    /// The process runs as root on a system with `apt-get`.
    CanInstall,
    CannotInstall,
}

/// Installs the programs if they are missing and it can, and otherwise says what is missing.
///
/// It never fails: the tests that need them do, and the others are worth running.
pub(super) fn ensure() {
    let missing = || {
        let tools = TOOLS.into_iter();
        tools
            .filter(|tool| !on_path(tool.program))
            .collect::<Vec<_>>()
    };
    match plan(&missing(), rights()) {
        Plan::Nothing => println!(
            "{}: already installed",
            TOOLS.map(|it| it.package).join(", ")
        ),
        Plan::Print(message) => println!("{message}"),
        Plan::Install(packages) => match apt_get(&packages) {
            Ok(()) if missing().is_empty() => println!("{}: installed", packages.join(", ")),
            Ok(()) => println!("{}", lacking(&packages, "apt-get failed to install them")),
            Err(failure) => println!("{}", lacking(&packages, &failure.to_string())),
        },
    }
}

fn plan(missing: &[Tool], rights: Rights) -> Plan {
    let packages: Vec<_> = missing.iter().map(|tool| tool.package).collect();
    match rights {
        _ if packages.is_empty() => Plan::Nothing,
        Rights::CanInstall => Plan::Install(packages),
        Rights::CannotInstall => {
            let reason = "this process is not root on a system with apt-get";
            Plan::Print(lacking(&packages, reason))
        }
    }
}

fn lacking(packages: &[&str], reason: &str) -> String {
    let packages = packages.join(" ");
    format!(
        "WARNING: missing programs that were not installed: {packages} ({reason}).\nTests that run \
         them will fail or check less. On Debian: apt-get install {packages}"
    )
}

fn rights() -> Rights {
    if is_root() && on_path("apt-get") {
        Rights::CanInstall
    } else {
        Rights::CannotInstall
    }
}

/// Installs the packages, with fresh lists if the lists at hand do not do.
fn apt_get(packages: &[&str]) -> Result<(), Failure> {
    let install = || {
        let mut command = apt_get_command("install");
        command
            .args(["--yes", "--no-install-recommends"])
            .args(packages);
        cargo::run(command)
    };
    install().or_else(|_| {
        cargo::run(apt_get_command("update"))?;
        install()
    })
}

fn apt_get_command(subcommand: &str) -> Command {
    let mut command = Command::new("apt-get");
    command.arg(subcommand).stdin(Stdio::null());
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| is_program(&dir.join(program)))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let file = path.metadata().ok().filter(|data| data.is_file());
    file.is_some_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Says whether this process is root's.
#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self")
        .metadata()
        .is_ok_and(|data| data.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tools_are_installed_only_with_rights() {
        let [bwrap, socat, chromium, ..] = TOOLS;

        assert_eq!(plan(&[], Rights::CanInstall), Plan::Nothing);
        assert_eq!(plan(&[], Rights::CannotInstall), Plan::Nothing);
        assert_eq!(
            plan(&[bwrap, socat, chromium], Rights::CanInstall),
            Plan::Install(vec!["bubblewrap", "socat", "chromium"])
        );
        assert_eq!(
            plan(&[socat], Rights::CanInstall),
            Plan::Install(vec!["socat"])
        );
        assert_eq!(
            plan(&[bwrap, socat], Rights::CannotInstall),
            Plan::Print(
                "WARNING: missing programs that were not installed: bubblewrap socat (this \
                 process is not root on a system with apt-get).\nTests that run them will fail or \
                 check less. On Debian: apt-get install bubblewrap socat"
                    .to_owned()
            )
        );
    }
}
