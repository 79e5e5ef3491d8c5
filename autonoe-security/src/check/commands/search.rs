//! Search tools: `rg` and `fd`.

use super::option_allow_list::OptionAllowList;
use crate::check::arg::{Arg, Unknown};
use crate::check::call::{Call, Checked};
use crate::check::options::{Table, Takes};
use crate::syntax::Span;
use crate::{Denial, Rule};

const RG: OptionAllowList = OptionAllowList {
    flags: "sFivxUPSawL.ubhnN0opqHIclV",
    table: Table {
        short_values: "efEmjgdtTABCMr",
        short_maybe: "",
        long: &[
            ("after-context", Takes::Value),
            ("auto-hybrid-regex", Takes::Nothing),
            ("before-context", Takes::Value),
            ("binary", Takes::Nothing),
            ("block-buffered", Takes::Nothing),
            ("byte-offset", Takes::Nothing),
            ("case-sensitive", Takes::Nothing),
            ("color", Takes::Value),
            ("colors", Takes::Value),
            ("column", Takes::Nothing),
            ("context", Takes::Value),
            ("context-separator", Takes::Value),
            ("count", Takes::Nothing),
            ("count-matches", Takes::Nothing),
            ("crlf", Takes::Nothing),
            ("debug", Takes::Nothing),
            ("dfa-size-limit", Takes::Value),
            ("encoding", Takes::Value),
            ("engine", Takes::Value),
            ("field-context-separator", Takes::Value),
            ("field-match-separator", Takes::Value),
            ("file", Takes::Value),
            ("files", Takes::Nothing),
            ("files-with-matches", Takes::Nothing),
            ("files-without-match", Takes::Nothing),
            ("fixed-strings", Takes::Nothing),
            ("follow", Takes::Nothing),
            ("generate", Takes::Value),
            ("glob", Takes::Value),
            ("glob-case-insensitive", Takes::Nothing),
            ("heading", Takes::Nothing),
            ("help", Takes::Nothing),
            ("hidden", Takes::Nothing),
            ("hostname-bin", Takes::Value),
            ("hyperlink-format", Takes::Value),
            ("iglob", Takes::Value),
            ("ignore", Takes::Nothing),
            ("ignore-case", Takes::Nothing),
            ("ignore-file", Takes::Value),
            ("ignore-file-case-insensitive", Takes::Nothing),
            ("include-zero", Takes::Nothing),
            ("invert-match", Takes::Nothing),
            ("json", Takes::Nothing),
            ("line-buffered", Takes::Nothing),
            ("line-number", Takes::Nothing),
            ("line-regexp", Takes::Nothing),
            ("max-columns", Takes::Value),
            ("max-columns-preview", Takes::Nothing),
            ("max-count", Takes::Value),
            ("max-depth", Takes::Value),
            ("max-filesize", Takes::Value),
            ("maxdepth", Takes::Value),
            ("messages", Takes::Nothing),
            ("mmap", Takes::Nothing),
            ("multiline", Takes::Nothing),
            ("multiline-dotall", Takes::Nothing),
            ("no-auto-hybrid-regex", Takes::Nothing),
            ("no-binary", Takes::Nothing),
            ("no-column", Takes::Nothing),
            ("no-config", Takes::Nothing),
            ("no-context-separator", Takes::Nothing),
            ("no-crlf", Takes::Nothing),
            ("no-filename", Takes::Nothing),
            ("no-fixed-strings", Takes::Nothing),
            ("no-follow", Takes::Nothing),
            ("no-heading", Takes::Nothing),
            ("no-hidden", Takes::Nothing),
            ("no-ignore", Takes::Nothing),
            ("no-ignore-dot", Takes::Nothing),
            ("no-ignore-exclude", Takes::Nothing),
            ("no-ignore-files", Takes::Nothing),
            ("no-ignore-global", Takes::Nothing),
            ("no-ignore-messages", Takes::Nothing),
            ("no-ignore-parent", Takes::Nothing),
            ("no-ignore-vcs", Takes::Nothing),
            ("no-line-number", Takes::Nothing),
            ("no-messages", Takes::Nothing),
            ("no-mmap", Takes::Nothing),
            ("no-multiline", Takes::Nothing),
            ("no-pcre2", Takes::Nothing),
            ("no-pcre2-unicode", Takes::Nothing),
            ("no-pre", Takes::Nothing),
            ("no-require-git", Takes::Nothing),
            ("no-search-zip", Takes::Nothing),
            ("no-stats", Takes::Nothing),
            ("no-text", Takes::Nothing),
            ("no-trim", Takes::Nothing),
            ("no-unicode", Takes::Nothing),
            ("null", Takes::Nothing),
            ("null-data", Takes::Nothing),
            ("one-file-system", Takes::Nothing),
            ("only-matching", Takes::Nothing),
            ("passthru", Takes::Nothing),
            ("passthrough", Takes::Nothing),
            ("path-separator", Takes::Value),
            ("pcre2", Takes::Nothing),
            ("pcre2-version", Takes::Nothing),
            ("pre", Takes::Value),
            ("pre-glob", Takes::Value),
            ("pretty", Takes::Nothing),
            ("quiet", Takes::Nothing),
            ("regex-size-limit", Takes::Value),
            ("regexp", Takes::Value),
            ("replace", Takes::Value),
            ("search-zip", Takes::Nothing),
            ("smart-case", Takes::Nothing),
            ("sort", Takes::Value),
            ("sort-files", Takes::Nothing),
            ("sortr", Takes::Value),
            ("stats", Takes::Nothing),
            ("stop-on-nonmatch", Takes::Nothing),
            ("text", Takes::Nothing),
            ("threads", Takes::Value),
            ("trace", Takes::Nothing),
            ("trim", Takes::Nothing),
            ("type", Takes::Value),
            ("type-add", Takes::Value),
            ("type-clear", Takes::Value),
            ("type-list", Takes::Nothing),
            ("type-not", Takes::Value),
            ("unrestricted", Takes::Nothing),
            ("version", Takes::Nothing),
            ("vimgrep", Takes::Nothing),
            ("with-filename", Takes::Nothing),
            ("word-regexp", Takes::Nothing),
        ],
    },
    // They run other programs: a preprocessor, a program that prints the host name, and tools that
    // decompress. `-z` is not a flag for the same reason.
    refused: words!("--pre --hostname-bin --search-zip"),
    rule: Rule::R82,
    instead: "search plain files: rg PATTERN DIR",
};

pub(super) fn rg(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    RG.read(call).map(|_seen| ())
}

const FD: OptionAllowList = OptionAllowList {
    flags: "HIusigFalLp01qhV",
    table: Table {
        short_values: "dEteSocj",
        short_maybe: "",
        long: &[
            ("absolute-path", Takes::Nothing),
            ("and", Takes::Value),
            ("base-directory", Takes::Value),
            ("batch-size", Takes::Value),
            ("case-sensitive", Takes::Nothing),
            ("change-newer-than", Takes::Value),
            ("change-older-than", Takes::Value),
            ("changed-before", Takes::Value),
            ("changed-within", Takes::Value),
            ("color", Takes::Value),
            ("exact-depth", Takes::Value),
            ("exclude", Takes::Value),
            ("extension", Takes::Value),
            ("fixed-strings", Takes::Nothing),
            ("follow", Takes::Nothing),
            ("format", Takes::Value),
            ("full-path", Takes::Nothing),
            ("glob", Takes::Nothing),
            ("help", Takes::Nothing),
            ("hidden", Takes::Nothing),
            ("hyperlink", Takes::Maybe),
            ("ignore", Takes::Nothing),
            ("ignore-case", Takes::Nothing),
            ("ignore-file", Takes::Value),
            ("ignore-parent", Takes::Nothing),
            ("ignore-vcs", Takes::Nothing),
            ("list-details", Takes::Nothing),
            ("max-depth", Takes::Value),
            ("max-results", Takes::Value),
            ("maxdepth", Takes::Value),
            ("min-depth", Takes::Value),
            ("newer", Takes::Value),
            ("no-follow", Takes::Nothing),
            ("no-global-ignore-file", Takes::Nothing),
            ("no-hidden", Takes::Nothing),
            ("no-ignore", Takes::Nothing),
            ("no-ignore-parent", Takes::Nothing),
            ("no-ignore-vcs", Takes::Nothing),
            ("no-require-git", Takes::Nothing),
            ("older", Takes::Value),
            ("one-file-system", Takes::Nothing),
            ("owner", Takes::Value),
            ("path-separator", Takes::Value),
            ("print0", Takes::Nothing),
            ("prune", Takes::Nothing),
            ("quiet", Takes::Nothing),
            ("regex", Takes::Nothing),
            ("relative-path", Takes::Nothing),
            ("require-git", Takes::Nothing),
            ("search-path", Takes::Value),
            ("show-errors", Takes::Nothing),
            ("size", Takes::Value),
            ("strip-cwd-prefix", Takes::Maybe),
            ("threads", Takes::Value),
            ("type", Takes::Value),
            ("unrestricted", Takes::Nothing),
            ("version", Takes::Nothing),
        ],
    },
    refused: &[],
    rule: Rule::R82,
    instead: "list the files: fd PATTERN DIR",
};

/// Judges the options of `fd`, and the commands behind `-x` and `-X` like those of `find -exec`.
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
    FD.read(&call).map(|_seen| ())
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
        let reason = "the names of the copies are not known before they are made";
        return Err(Denial::by(Rule::R82, copy.span, reason).instead("name the files: cp FILE DIR"));
    }
    let has_placeholder = |arg: &Arg<'_>| PLACEHOLDERS.iter().any(|it| arg.text.contains(it));
    let mut inner: Vec<Arg<'s>> = command
        .iter()
        .map(|arg| match arg.text.find('{') {
            Some(at) if has_placeholder(arg) => found(&arg.text[..at], arg.span),
            _ => arg.clone(),
        })
        .collect();
    if !command.iter().any(has_placeholder) {
        inner.push(found("", first.span));
    }
    if is_batch {
        inner.push(found("", first.span));
    }
    call.inner(&inner)
}

/// Makes an argument that begins with `head` and goes on with a name that fd finds.
fn found<'s>(head: &str, span: Span) -> Arg<'s> {
    Arg {
        unknown: Some(Unknown {
            part: None,
            quoted: true,
        }),
        ..Arg::plain(head.to_owned(), span)
    }
}
