//! Commands that read files and print.

use super::option_allow_list::OptionAllowList;
use super::{awk, free, search, sed, writers};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Validator};
use crate::check::options::{Seen, Table, Takes};
use crate::check::write_target::Root;

/// Commands of every project, in both modes.
///
/// Those with `free` have no option or operand that writes, runs a program or connects, in GNU, BSD
/// and busybox alike.
pub(super) const COMMANDS: &[(&str, Validator)] = &[
    ("sed", sed::check),
    ("awk", awk::check),
    ("gawk", awk::check),
    ("mawk", awk::check),
    ("nawk", awk::check),
    ("rg", search::rg),
    ("fd", search::fd),
    ("fdfind", search::fd),
    ("base32", base64),
    ("base64", base64),
    ("file", file),
    ("shuf", shuf),
    ("strings", strings),
    ("tee", writers::tee),
    ("xxd", xxd),
    ("b2sum", free),
    ("basename", free),
    ("cksum", free),
    ("cmp", free),
    ("column", free),
    ("comm", free),
    ("df", free),
    ("dirname", free),
    ("du", free),
    ("egrep", free),
    ("expand", free),
    ("fgrep", free),
    ("fmt", free),
    ("fold", free),
    ("hexdump", free),
    ("join", free),
    ("md5sum", free),
    ("nl", free),
    ("nproc", free),
    ("numfmt", free),
    ("od", free),
    ("paste", free),
    ("readlink", free),
    ("realpath", free),
    ("rev", free),
    ("seq", free),
    ("sha1sum", free),
    ("sha224sum", free),
    ("sha256sum", free),
    ("sha384sum", free),
    ("sha512sum", free),
    ("shasum", free),
    ("stat", free),
    ("sum", free),
    ("tsort", free),
    ("unexpand", free),
];

/// The one of BSD writes to a file with `-o`.
const BASE64: OptionAllowList = OptionAllowList {
    flags: "dDhi",
    table: Table {
        short_values: "bw",
        short_maybe: "",
        long: &[
            ("break", Takes::Value),
            ("decode", Takes::Nothing),
            ("help", Takes::Nothing),
            ("ignore-garbage", Takes::Nothing),
            ("version", Takes::Nothing),
            ("wrap", Takes::Value),
        ],
    },
    refused: &[],
    rule: Rule::R83,
    instead: "print, and redirect the output: base64 -d FILE > OUT",
};

fn base64(call: &Call<'_, '_, '_>) -> Checked {
    BASE64.read(call).map(|_seen| ())
}

/// Missing are `-C`, which writes, `-m`, which loads a file of rules, `-z` and `-Z`, which run
/// programs that decompress, `-s`, which reads devices, and `-S`, which turns the sandbox off.
const FILE: OptionAllowList = OptionAllowList {
    flags: "bcdhiIkLlnNprv0E",
    table: Table {
        short_values: "efFP",
        short_maybe: "",
        long: &[
            ("apple", Takes::Nothing),
            ("brief", Takes::Nothing),
            ("checking-printout", Takes::Nothing),
            ("compile", Takes::Nothing),
            ("debug", Takes::Nothing),
            ("dereference", Takes::Nothing),
            ("exclude", Takes::Value),
            ("exclude-quiet", Takes::Value),
            ("extension", Takes::Nothing),
            ("files-from", Takes::Value),
            ("help", Takes::Nothing),
            ("keep-going", Takes::Nothing),
            ("list", Takes::Nothing),
            ("magic-file", Takes::Value),
            ("mime", Takes::Nothing),
            ("mime-encoding", Takes::Nothing),
            ("mime-type", Takes::Nothing),
            ("no-buffer", Takes::Nothing),
            ("no-dereference", Takes::Nothing),
            ("no-pad", Takes::Nothing),
            ("no-sandbox", Takes::Nothing),
            ("parameter", Takes::Value),
            ("preserve-date", Takes::Nothing),
            ("print0", Takes::Nothing),
            ("raw", Takes::Nothing),
            ("separator", Takes::Value),
            ("special-files", Takes::Nothing),
            ("uncompress", Takes::Nothing),
            ("uncompress-noreport", Takes::Nothing),
            ("version", Takes::Nothing),
        ],
    },
    refused: words!(
        "--compile --magic-file --no-sandbox --special-files --uncompress --uncompress-noreport"
    ),
    rule: Rule::R83,
    instead: "use file FILE, or file --mime-type FILE",
};

fn file(call: &Call<'_, '_, '_>) -> Checked {
    FILE.read(call).map(|_seen| ())
}

const SHUF: OptionAllowList = OptionAllowList {
    flags: "erz",
    table: Table {
        short_values: "ino",
        short_maybe: "",
        long: &[
            ("echo", Takes::Nothing),
            ("head-count", Takes::Value),
            ("help", Takes::Nothing),
            ("input-range", Takes::Value),
            ("output", Takes::Value),
            ("random-source", Takes::Value),
            ("repeat", Takes::Nothing),
            ("version", Takes::Nothing),
            ("zero-terminated", Takes::Nothing),
        ],
    },
    refused: &[],
    rule: Rule::R83,
    instead: "print, and redirect the output: shuf FILE > OUT",
};

fn shuf(call: &Call<'_, '_, '_>) -> Checked {
    for seen in SHUF.read(call)? {
        match seen {
            Seen::Option { name, value, arg } if name == "-o" || name == "--output" => {
                match value {
                    Some(target) => call.write_target(&target, Root::Refused)?,
                    None => return Err(call.deny_flag(Rule::R83, &name, arg.span)),
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// `-T` chooses a library of binary formats.
const STRINGS: OptionAllowList = OptionAllowList {
    flags: "adfhovVw0123456789",
    table: Table {
        short_values: "nteUs",
        short_maybe: "",
        long: &[
            ("all", Takes::Nothing),
            ("bytes", Takes::Value),
            ("data", Takes::Nothing),
            ("encoding", Takes::Value),
            ("help", Takes::Nothing),
            ("include-all-whitespace", Takes::Nothing),
            ("output-separator", Takes::Value),
            ("print-file-name", Takes::Nothing),
            ("radix", Takes::Value),
            ("unicode", Takes::Value),
            ("version", Takes::Nothing),
        ],
    },
    refused: &[],
    rule: Rule::R83,
    instead: "use strings FILE, or strings -n 8 FILE",
};

fn strings(call: &Call<'_, '_, '_>) -> Checked {
    for seen in STRINGS.read(call)? {
        if let Seen::Operand(operand) = seen
            && operand.text.starts_with('@')
        {
            return Err(call
                .deny(Rule::R83, "strings reads options from a file")
                .instead("begin the path with ./"));
        }
    }
    Ok(())
}

/// Options of `xxd` with a value, which is the next argument or a number written together with them.
const XXD_VALUES: &[&str] =
    words!("-c -cols -g -groupsize -l -len -n -name -o -offset -R -s -seek -skip");

const XXD_FLAGS: &[&str] = words!(
    "-a -autoskip -b -bits -C -capitalize -d -e -E -EBCDIC -h -help -i -include -p -plain",
    "-postscript -ps -r -revert -u -upper -v -version",
);

/// It recognises options by their beginning, and its second operand is overwritten.
fn xxd(call: &Call<'_, '_, '_>) -> Checked {
    let mut operands = 0;
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let text = arg.text.as_ref();
        if !text.starts_with('-') || arg.is("-") {
            operands += 1;
            let is_one = call.is_option_safe(arg) && is_one_argument(call, arg);
            match operands {
                1 if is_one => {}
                1 => return Err(call.deny_dynamic(arg)),
                _ => call.write_target(arg, Root::Refused)?,
            }
            continue;
        }
        let is_attached = |name: &&&str| {
            let value = text.strip_prefix(**name).unwrap_or_default();
            name.len() == 2
                && value.starts_with(|c: char| c.is_ascii_digit() || c == '+')
                && value
                    .bytes()
                    .all(|byte| byte.is_ascii_hexdigit() || b"+x".contains(&byte))
        };
        match arg.known() {
            Some(name) if XXD_VALUES.contains(&name) => {
                if let Some(value) = args.next().filter(|value| !is_one_argument(call, value)) {
                    return Err(call.deny_dynamic(value));
                }
            }
            Some(name) if XXD_FLAGS.contains(&name) => {}
            Some(_) if XXD_VALUES.iter().find(is_attached).is_some() => {}
            _ => {
                return Err(call
                    .deny_flag(Rule::R83, text, arg.span)
                    .instead("write each option by itself: xxd -l 64 FILE"));
            }
        }
    }
    Ok(())
}

/// Returns whether an argument never becomes several, or none.
fn is_one_argument(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    !arg.is_pattern() && call.stays_one_word(arg)
}
