//! Commands that read files and print.

use super::option_allow_list::OptionAllowList;
use super::{Commands, awk, free, search, sed, writers};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::ParsedArg;
use crate::check::write_target::Root;

/// Commands of every project, in both modes.
pub(super) const COMMANDS: Commands = &[
    (words!("sed"), sed::check),
    (words!("awk gawk mawk nawk"), awk::check),
    (words!("rg"), search::rg),
    (words!("fd fdfind"), search::fd),
    (words!("base32 base64"), base64),
    (words!("bc"), bc),
    (words!("file"), file),
    (words!("iconv"), iconv),
    (words!("shuf"), shuf),
    (words!("strings"), strings),
    (words!("tee"), writers::tee),
    (words!("xxd"), xxd),
    (FREE, free),
];

/// Commands without an option or operand that writes, runs a program or connects, in GNU, BSD and
/// busybox alike.
pub(super) const FREE: &[&str] = words!(
    "b2sum basename cksum cmp column comm df dirname du egrep expand expr fgrep fmt fold",
    "hexdump join md5sum nl nproc numfmt od paste readlink realpath rev seq sha1sum",
    "sha224sum sha256sum sha384sum sha512sum shasum stat sum tsort unexpand uuidgen",
);

/// The BSD version writes to a file with `-o`.
const BASE64: OptionAllowList = OptionAllowList {
    options: options!(
        "dDhib:w:",
        "break= decode help ignore-garbage version wrap=",
    ),
    refused: &[],
    rule: Rule::R83,
    instead: "print, and redirect the output: base64 -d FILE > OUT",
};

fn base64(call: &Call<'_, '_, '_>) -> Checked {
    BASE64.read(call).map(|_parsed| ())
}

/// Calculates. GNU and BSD `bc` neither write files nor run programs.
const BC: OptionAllowList = OptionAllowList {
    options: options!("lqsw", "mathlib quiet standard warn"),
    refused: &[],
    rule: Rule::R83,
    instead: "pass the expression on its input: echo '7 / 3' | bc -l",
};

fn bc(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    BC.read(call).map(|_parsed| ())
}

/// `-o` writes a file.
const ICONV: OptionAllowList = OptionAllowList {
    options: options!(
        "clsf:t:o:",
        "from-code= help list output= silent to-code= verbose version",
    ),
    refused: words!("-o --output"),
    rule: Rule::R83,
    instead: "print, and redirect the output: iconv -f latin1 -t utf-8 FILE > OUT",
};

fn iconv(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    ICONV.read(call).map(|_parsed| ())
}

/// Missing are `-C`, which writes, `-m`, which loads a file of rules, `-z` and `-Z`, which run
/// programs that decompress, `-s`, which reads devices, and `-S`, which turns the sandbox off.
const FILE: OptionAllowList = OptionAllowList {
    options: options!(
        "bcdhiIkLlnNprv0Ee:f:F:P:",
        "apple brief checking-printout compile debug dereference exclude= exclude-quiet= extension",
        "files-from= help keep-going list magic-file= mime mime-encoding mime-type no-buffer",
        "no-dereference no-pad no-sandbox parameter= preserve-date print0 raw separator=",
        "special-files uncompress uncompress-noreport version",
    ),
    refused: words!(
        "--compile --magic-file --no-sandbox --special-files --uncompress --uncompress-noreport"
    ),
    rule: Rule::R83,
    instead: "use file FILE, or file --mime-type FILE",
};

fn file(call: &Call<'_, '_, '_>) -> Checked {
    FILE.read(call).map(|_parsed| ())
}

const SHUF: OptionAllowList = OptionAllowList {
    options: options!(
        "erzi:n:o:",
        "echo head-count= help input-range= output= random-source= repeat version zero-terminated",
    ),
    refused: &[],
    rule: Rule::R83,
    instead: "print, and redirect the output: shuf FILE > OUT",
};

fn shuf(call: &Call<'_, '_, '_>) -> Checked {
    for parsed in SHUF.read(call)? {
        match parsed {
            ParsedArg::Option { name, value, arg } if name == "-o" || name == "--output" => {
                match value {
                    Some(target) => call.check_write_target(&target, Root::Refused)?,
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
    options: options!(
        "adfhovVw0123456789n:t:e:U:s:",
        "all bytes= data encoding= help include-all-whitespace output-separator= print-file-name",
        "radix= unicode= version",
    ),
    refused: &[],
    rule: Rule::R83,
    instead: "use strings FILE, or strings -n 8 FILE",
};

fn strings(call: &Call<'_, '_, '_>) -> Checked {
    for parsed in STRINGS.read(call)? {
        if let ParsedArg::Operand(operand) = parsed
            && operand.text.starts_with('@')
        {
            return Err(call
                .deny(Rule::R83, "strings reads options from a file")
                .instead("begin the path with ./"));
        }
    }
    Ok(())
}

/// Options of `xxd` with a value, which is the next argument or a number in the same argument.
const XXD_VALUES: &[&str] =
    words!("-c -cols -g -groupsize -l -len -n -name -o -offset -R -s -seek -skip");

const XXD_FLAGS: &[&str] = words!(
    "-a -autoskip -b -bits -C -capitalize -d -e -E -EBCDIC -h -help -i -include -p -plain",
    "-postscript -ps -r -revert -u -upper -v -version",
);

/// Checks `xxd`, which recognises options by their prefix and overwrites its second operand.
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
                _ => call.check_write_target(arg, Root::Refused)?,
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
                    .instead("write each option separately: xxd -l 64 FILE"));
            }
        }
    }
    Ok(())
}

/// Returns whether an argument never becomes several, or none.
fn is_one_argument(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    !arg.is_pattern() && call.stays_one_word(arg)
}
