//! Search tools: `rg` and `fd`.

use super::option_allow_list::OptionAllowList;
use crate::check::arg::{Arg, Unknown};
use crate::check::call::{Call, Checked};

use crate::syntax::Span;
use crate::{Denial, Rule};

pub(super) const RG: OptionAllowList = OptionAllowList {
    options: options!(
        "sFivxUPSawL.ubhnN0opqHIclVe:f:E:m:j:g:d:t:T:A:B:C:M:r:",
        "after-context= auto-hybrid-regex before-context= binary block-buffered byte-offset",
        "case-sensitive color= colors= column context= context-separator= count count-matches crlf",
        "debug dfa-size-limit= encoding= engine= field-context-separator= field-match-separator=",
        "file= files files-with-matches files-without-match fixed-strings follow generate= glob=",
        "glob-case-insensitive heading help hidden hostname-bin= hyperlink-format= iglob= ignore",
        "ignore-case ignore-file= ignore-file-case-insensitive include-zero invert-match json",
        "line-buffered line-number line-regexp max-columns= max-columns-preview max-count=",
        "max-depth= max-filesize= maxdepth= messages mmap multiline multiline-dotall",
        "no-auto-hybrid-regex no-binary no-column no-config no-context-separator no-crlf",
        "no-filename no-fixed-strings no-follow no-heading no-hidden no-ignore no-ignore-dot",
        "no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent",
        "no-ignore-vcs no-line-number no-messages no-mmap no-multiline no-pcre2 no-pcre2-unicode",
        "no-pre no-require-git no-search-zip no-stats no-text no-trim no-unicode null null-data",
        "one-file-system only-matching passthru passthrough path-separator= pcre2 pcre2-version",
        "pre= pre-glob= pretty quiet regex-size-limit= regexp= replace= search-zip smart-case",
        "sort= sort-files sortr= stats stop-on-nonmatch text threads= trace trim type= type-add=",
        "type-clear= type-list type-not= unrestricted version vimgrep with-filename word-regexp",
    ),
    // These run other programs: a preprocessor, a program that prints the host name, and
    // decompression tools. `-z` is not a flag for the same reason.
    refused: words!("--pre --hostname-bin --search-zip"),
    rule: Rule::R82,
    instead: "search plain files: rg PATTERN DIR",
};

pub(super) fn rg(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    RG.read(call).map(|_parsed| ())
}

pub(super) const FD: OptionAllowList = OptionAllowList {
    options: options!(
        "HIusigFalLp01qhVd:E:t:e:S:o:c:j:",
        "absolute-path and= base-directory= batch-size= case-sensitive change-newer-than=",
        "change-older-than= changed-before= changed-within= color= exact-depth= exclude=",
        "extension= fixed-strings follow format= full-path glob help hidden hyperlink? ignore",
        "ignore-case ignore-file= ignore-parent ignore-vcs list-details max-depth= max-results=",
        "maxdepth= min-depth= newer= no-follow no-global-ignore-file no-hidden no-ignore",
        "no-ignore-parent no-ignore-vcs no-require-git older= one-file-system owner=",
        "path-separator= print0 prune quiet regex relative-path require-git search-path=",
        "show-errors size= strip-cwd-prefix? threads= type= unrestricted version",
    ),
    refused: &[],
    rule: Rule::R82,
    instead: "list the files: fd PATTERN DIR",
};

/// Judges the options of `fd`, and the commands after `-x` and `-X` like those of `find -exec`.
pub(super) fn fd(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let mut args = call.args;
    while let Some(at) = args.iter().position(is_exec) {
        check_options(call, &args[..at])?;
        let is_batch = args[at].is("-X") || args[at].is("--exec-batch");
        let behind = &args[at + 1..];
        let end = behind.iter().position(|arg| arg.is(";"));
        let end = end.unwrap_or(behind.len());
        check_command(call, &behind[..end], is_batch)?;
        args = behind.get(end + 1..).unwrap_or_default();
    }
    check_options(call, args)
}

fn is_exec(arg: &Arg<'_>) -> bool {
    ["-x", "-X", "--exec", "--exec-batch"]
        .iter()
        .any(|option| arg.is(option))
}

fn check_options<'c, 's>(call: &Call<'c, '_, 's>, args: &'c [Arg<'s>]) -> Checked {
    let call = Call { args, ..*call };
    FD.read(&call).map(|_parsed| ())
}

const PLACEHOLDERS: [&str; 5] = ["{}", "{/}", "{//}", "{.}", "{/.}"];

fn check_command<'s>(call: &Call<'_, '_, 's>, command: &[Arg<'s>], is_batch: bool) -> Checked {
    let Some(first) = command.first() else {
        return Err(call
            .deny(Rule::R82, "fd has no command to run")
            .instead("name the command: fd PATTERN -x wc -l"));
    };
    // A value that is `;` ends the command, and options of fd follow.
    let mut is_known = true;
    for arg in command {
        if !is_known && arg.text.starts_with('-') {
            return Err(call.deny_dynamic(arg));
        }
        is_known &= arg.is_static() && !arg.may_match(";");
    }
    if let Some(copy) = command.iter().find(|arg| arg.is("cp")) {
        let reason = "the names of the copies are unknown until they are made";
        return Err(Denial::by(Rule::R82, copy.span, reason).instead("name the files: cp FILE DIR"));
    }
    let has_placeholder = |arg: &Arg<'_>| PLACEHOLDERS.iter().any(|it| arg.text.contains(it));
    let mut inner: Vec<Arg<'s>> = command
        .iter()
        .map(|arg| match arg.text.find('{') {
            Some(at) if has_placeholder(arg) => found_name(&arg.text[..at], arg.span),
            _ => arg.clone(),
        })
        .collect();
    if !command.iter().any(has_placeholder) {
        inner.push(found_name("", first.span));
    }
    if is_batch {
        inner.push(found_name("", first.span));
    }
    call.inner(&inner)
}

/// Creates an argument that starts with `head` and continues with a name that fd finds.
fn found_name<'s>(head: &str, span: Span) -> Arg<'s> {
    Arg {
        unknown: Some(Unknown {
            part: None,
            quoted: true,
        }),
        ..Arg::plain(head.to_owned(), span)
    }
}
