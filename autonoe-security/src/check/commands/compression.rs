//! Compression of single files, to standard output or next to the original file.

use super::Commands;
use super::option_allow_list::OptionAllowList;
use super::writers::check_target;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::ParsedArg;
use crate::check::write_target::Root;

pub(super) const COMMANDS: Commands = &[(
    words!("bunzip2 bzcat bzip2 gunzip gzip unxz xz xzcat zcat"),
    check,
)];

/// Missing are `-r`, which recurses into directories, `-S`, which creates another name, `-N`, which
/// takes the name from the file, and lists of files.
const OPTIONS: OptionAllowList = OptionAllowList {
    options: options!(
        "cdefhklnqstvzV0123456789S:T:M:",
        "best compress decompress extreme fast files? files0? force help keep list name no-name",
        "quiet recursive rsyncable small stdout suffix= test threads= to-stdout uncompress verbose",
        "version",
    ),
    refused: words!("-S -M --files --files0 --name --recursive --suffix"),
    rule: Rule::R97,
    instead: "print, and redirect the output: gzip -c FILE > FILE.gz",
};

fn check(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let parsed = OPTIONS.read(call)?;
    let has = |names: &[&str]| {
        let mut parsed = parsed.iter();
        parsed.any(
            |parsed| matches!(parsed, ParsedArg::Option { name, .. } if names.contains(&name.as_str())),
        )
    };
    let (extension, is_unpacker) = match call.name {
        "gzip" => (".gz", false),
        "gunzip" => (".gz", true),
        "bzip2" => (".bz2", false),
        "bunzip2" => (".bz2", true),
        "xz" => (".xz", false),
        _ => (".xz", true),
    };
    let decompresses = has(&["-d", "--decompress", "--uncompress"]);
    let compresses = has(&["-z", "--compress"]);
    let unpacks = is_unpacker || decompresses;
    if unpacks && compresses {
        let reason = format!("{} would compress and decompress", call.name);
        return Err(call.deny(Rule::R97, reason).instead(format!(
            "use one of {0} -k FILE and {0} -dk FILE",
            call.name
        )));
    }
    // The last of these modes counts.
    let only_tests = has(&["-t", "-l", "--test", "--list"]) && !decompresses && !compresses;
    let prints = has(&["-c", "--stdout", "--to-stdout"]) || call.name.ends_with("cat");
    if only_tests || prints {
        return Ok(());
    }
    let files = parsed.iter().filter_map(|parsed| match parsed {
        ParsedArg::Operand(file) if !file.is("-") => Some(*file),
        _ => None,
    });
    for file in files {
        if !has(&["-k", "--keep"]) {
            let reason = format!("{} deletes '{}'", call.name, file.text);
            return Err(
                crate::Denial::by(Rule::R97, file.span, reason).instead(format!(
                    "keep the file with {0} -k FILE, or print with {0} -c FILE",
                    call.name
                )),
            );
        }
        check_target(call, file)?;
        match (file.known(), unpacks) {
            // A pattern matches no hidden files, and their names only change at the end.
            (None, _) => {}
            (Some(path), false) => check_output(call, file, format!("{path}{extension}"))?,
            (Some(path), true) => {
                let Some(output) = path.strip_suffix(extension) else {
                    let reason = format!("the file that '{path}' becomes is unknown");
                    return Err(crate::Denial::by(Rule::R97, file.span, reason)
                        .instead(format!("print it with {} -c FILE > OUT", call.name)));
                };
                check_output(call, file, output.to_owned())?;
            }
        }
    }
    Ok(())
}

fn check_output(call: &Call<'_, '_, '_>, file: &Arg<'_>, output: String) -> Checked {
    call.check_write_target(&Arg::plain(output, file.span), Root::Refused)
}
