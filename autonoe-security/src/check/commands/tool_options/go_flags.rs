//! Flags that `go` passes to its compiler and linker.

use super::Tool;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::{Denial, Rule};

/// Linker flags that run no other program and write no other file. Those that end in `=` have a
/// value.
const LINKER: &[&str] = words!(
    "-s -w -v -race -msan -asan -X= -buildid= -linkmode= -compressdwarf= -checklinkname= -H=",
    "-bindnow= -buildmode=",
);

/// Compiler flags that write no other file.
const COMPILER: &[&str] = words!(
    "-N -l -m -S -e -B -live -wb= -m= -l= -N= -d= -dwarf= -lang= -c= -race -smallframes -std",
    "-trimpath= -D= -I= -shared",
);

/// Flags that may be passed to the external linker.
const EXTERNAL: &[&str] = words!("-static -static-pie -pthread -s -w -lm -ldl");

/// Checks `-ldflags`, `-gcflags`, `-asmflags` and `-gccgoflags`.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if tool.name != "go" {
        return Ok(());
    }
    let mut words = tool.args.iter().filter(|arg| !arg.text.starts_with('-'));
    if words.next().is_some_and(|arg| arg.is("tool"))
        && let Some(program) = words.next().filter(|arg| is_toolchain_program(arg))
    {
        let reason = format!(
            "'go tool {}' writes files and starts programs",
            program.text
        );
        return Err(Denial::by(Rule::R92, program.span, reason).instead("use go build"));
    }
    // The flags of a test program have this prefix, also behind `-args`.
    let writes = |arg: &&Arg<'_>| {
        let name = arg.text.trim_start_matches('-');
        let name = name.strip_prefix("test.").unwrap_or_default();
        let outputs = ["profile", "trace", "dir", "logfile"];
        arg.text.starts_with('-') && outputs.iter().any(|it| name.contains(it))
    };
    if let Some(arg) = tool.args.iter().find(writes) {
        return Err(tool
            .call
            .deny_flag(Rule::R92, &arg.text, arg.span)
            .instead("use the option of go test, such as -coverprofile=FILE"));
    }
    for (option, harmless) in [
        ("-ldflags", LINKER),
        ("-gcflags", COMPILER),
        ("-asmflags", COMPILER),
        ("-gccgoflags", &[]),
    ] {
        for value in tool.values_of(&[option]).into_iter().flatten() {
            if !is_harmless(tool, harmless, &value) {
                let reason = format!("Flag '{option}' may run another program or write a file");
                return Err(Denial::by(Rule::R92, value.span, reason)
                    .instead("use -s, -w and -X only, written literally"));
            }
        }
    }
    Ok(())
}

/// Returns whether a tool of go compiles, links, or runs another program by itself.
fn is_toolchain_program(name: &Arg<'_>) -> bool {
    matches!(
        name.text.as_ref(),
        "asm"
            | "buildid"
            | "cgo"
            | "compile"
            | "dist"
            | "link"
            | "pack"
            | "preprofile"
            | "test2json"
    )
}

fn is_harmless(tool: &Tool<'_, '_, '_, '_>, harmless: &[&str], value: &Arg<'_>) -> bool {
    // The flags may follow a package pattern: `all=-N -l`.
    let text = match value.text.split_once('=') {
        Some((packages, flags)) if !packages.starts_with(['-', '\'', '"']) => flags,
        _ => value.text.as_ref(),
    };
    let mut words = split(text).into_iter();
    let mut ends_in_text = false;
    while let Some(word) = words.next() {
        let word = match word.strip_prefix("--") {
            Some(long) => format!("-{long}"),
            None => word,
        };
        let name = word.split('=').next().unwrap_or(&word);
        if name == "-extldflags" {
            let flags = match word.split_once('=') {
                Some((_, flags)) => flags.to_owned(),
                None => words.next().unwrap_or_default(),
            };
            let is_known = |flag: String| EXTERNAL.contains(&flag.as_str());
            if !value.is_static() || !split(&flags).into_iter().all(is_known) {
                return false;
            }
            continue;
        }
        let has_value = harmless.contains(&format!("{name}=").as_str());
        let is_flag = harmless.contains(&word.as_str());
        if !has_value && !is_flag {
            return false;
        }
        ends_in_text = name == "-X";
        // `-X name=value`, `-linkmode external`
        if !is_flag && !word.contains('=') {
            words.next();
        }
    }
    // The end of the last value may be a variable or a command that prints one word.
    value.is_static() || (ends_in_text && tool.call.expands_to_words(value))
}

/// Splits flags like go: at blanks outside of quotes.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let quote = rest
            .chars()
            .next()
            .filter(|first| matches!(first, '\'' | '"'));
        let (word, behind) = match quote {
            Some(quote) => rest[1..].split_once(quote).unwrap_or((&rest[1..], "")),
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_split_at_blanks_outside_of_quotes() {
        for (text, words) in [
            ("-s -w", &["-s", "-w"][..]),
            ("-X 'main.a=b c'  -s", &["-X", "main.a=b c", "-s"]),
            ("-extldflags \"-static -s\"", &["-extldflags", "-static -s"]),
            ("", &[]),
        ] {
            assert_eq!(split(text), words, "{text}");
        }
    }
}
