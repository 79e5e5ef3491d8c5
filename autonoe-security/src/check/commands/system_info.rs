//! Commands that print facts about the machine: names, limits, sockets, the terminal.

use super::option_allow_list::OptionAllowList;
use super::{Commands, free};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::ParsedArg;
use crate::check::text::is_digits;

/// Commands of every project, in both modes.
///
/// Those with `free` have no option or operand that writes, runs a program or changes the machine.
/// Commands that print the user are missing: builds and tests need none of them.
pub(super) const COMMANDS: Commands = &[
    // With arguments, the `arch` of macOS runs a program.
    (words!("arch clear"), alone),
    (words!("free locale lscpu tty uname uptime yes"), free),
    (words!("getconf"), getconf),
    (words!("hostname"), hostname),
    (words!("netstat"), netstat),
    (words!("openssl"), openssl),
    (words!("ss"), ss),
    (words!("top"), top),
    (words!("tput"), tput),
];

fn alone(call: &Call<'_, '_, '_>) -> Checked {
    match call.args.first() {
        None => Ok(()),
        Some(arg) => Err(call.deny_flag(Rule::R96, &arg.text, arg.span)),
    }
}

/// Checks the options of a command without operands.
fn without_operands(call: &Call<'_, '_, '_>, list: &OptionAllowList) -> Checked {
    call.check_patterns()?;
    for parsed in list.read(call)? {
        if let ParsedArg::Operand(operand) = parsed {
            let reason = format!("{} with an operand changes the machine", call.name);
            return Err(crate::Denial::by(Rule::R96, operand.span, reason).instead(list.instead));
        }
    }
    Ok(())
}

/// Allowed options of `hostname`. An operand, `-F` and `-b` would set the name.
const HOSTNAME: OptionAllowList = OptionAllowList {
    options: options!(
        "aAdfhiIsVy",
        "alias all-fqdns all-ip-addresses boot domain file= fqdn help ip-address long short",
        "version",
    ),
    refused: words!("--boot --file"),
    rule: Rule::R96,
    instead: "use hostname, hostname -s or hostname -I",
};

fn hostname(call: &Call<'_, '_, '_>) -> Checked {
    without_operands(call, &HOSTNAME)
}

/// Missing are `-K`, which closes sockets, `-D`, which writes a file, `-F`, which reads options
/// from a file, `-N`, which enters another network namespace, and `-E`, which never ends.
const SS: OptionAllowList = OptionAllowList {
    options: options!(
        "hVnraloempisZz460tMSudwxHOf:A:N:D:F:",
        "all diag= events extended family= filter= help info ipv4 ipv6 kill listening memory net=",
        "no-header numeric oneline options processes query= resolve socket= summary tcp udp unix",
        "version",
    ),
    refused: words!("-N -D -F --diag --events --filter --kill --net"),
    rule: Rule::R96,
    instead: "list sockets with ss -tlnp, or use lsof -i :PORT",
};

fn ss(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    SS.read(call).map(|_parsed| ())
}

const NETSTAT: OptionAllowList = OptionAllowList {
    options: options!(
        "46aceghilnoprstuvwxWA:f:I:",
        "all extend groups help interfaces listening numeric numeric-hosts numeric-ports program",
        "programs route statistics tcp timers udp unix verbose version wide",
    ),
    refused: &[],
    rule: Rule::R96,
    instead: "list sockets with netstat -tlnp, or use lsof -i :PORT",
};

fn netstat(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    NETSTAT.read(call).map(|_parsed| ())
}

/// Allowed options of `top`. Without `-b`, or `-l` on macOS, it reads commands from the terminal.
const TOP: OptionAllowList = OptionAllowList {
    options: options!("bcHiS1hVd:e:E:n:l:o:p:u:U:w:"),
    refused: &[],
    rule: Rule::R96,
    instead: "use top -b -n 1, or ps aux",
};

fn top(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let mut is_batch = false;
    for parsed in TOP.read(call)? {
        match parsed {
            ParsedArg::Option { name, .. } => is_batch |= name == "-b" || name == "-l",
            ParsedArg::Operand(operand) => {
                return Err(call.deny_flag(Rule::R96, &operand.text, operand.span));
            }
        }
    }
    if is_batch {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R96, "top waits for commands from the terminal")
            .instead(TOP.instead))
    }
}

/// Terminal capabilities that print something. `init` and `reset` run a program.
const CAPABILITIES: &[&str] =
    words!("bold civis clear cnorm colors cols dim ed el lines rev rmul setab setaf sgr0 smul");

fn tput(call: &Call<'_, '_, '_>) -> Checked {
    let is_number = |arg: &Arg<'_>| arg.known().is_some_and(is_number);
    let is_fine = call.args.split_first().is_some_and(|(first, rest)| {
        let is_known = first.known().is_some_and(|it| CAPABILITIES.contains(&it));
        is_known && rest.iter().all(is_number)
    });
    if is_fine {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R96, "this capability of the terminal is not known")
            .instead("use tput cols, tput lines, tput setaf N or tput sgr0"))
    }
}

/// Checks `getconf`: `-v` runs another program.
fn getconf(call: &Call<'_, '_, '_>) -> Checked {
    let is_name = |text: &str| {
        let mut bytes = text.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_fine = match call.args {
        [all] if all.is("-a") => true,
        [name] => name.known().is_some_and(is_name),
        [name, path] => {
            let is_path = path.known().is_some_and(|path| !path.starts_with('-'));
            name.known().is_some_and(is_name) && is_path
        }
        _ => false,
    };
    if is_fine {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R96, "getconf takes one name")
            .instead("use getconf NAME or getconf -a"))
    }
}

/// Checks `openssl`: `version`, and `rand` without a file.
fn openssl(call: &Call<'_, '_, '_>) -> Checked {
    let texts: Option<Vec<&str>> = call.args.iter().map(Arg::known).collect();
    let is_fine = match texts.as_deref() {
        Some(["version", flags @ ..]) => flags.iter().all(|it| VERSION_FLAGS.contains(it)),
        Some(["rand", "-hex" | "-base64", bytes]) => is_number(bytes),
        Some(["rand", bytes, "-hex" | "-base64"]) => is_number(bytes),
        _ => false,
    };
    if is_fine {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R96, "only openssl version and openssl rand run")
            .instead("use openssl rand -hex N, or sha256sum FILE for a digest"))
    }
}

const VERSION_FLAGS: &[&str] = words!("-a -b -d -e -f -o -p -r -v");

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 10 && is_digits(text)
}
