//! `curl`: requests to servers on this machine.

use super::local_url::is_local;
use super::{deny_remote, in_run_mode};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::write_target::Root;
use crate::check::{credentials, numeric};
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

/// The accepted values of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    /// The option has no value.
    Nothing,
    /// Any value: it is sent, or it is a number.
    Anything,
    /// Text that is sent; `@FILE` sends a file.
    TextOrFile,
    /// `NAME=TEXT`, `NAME@FILE` and the like.
    Encoded,
    /// `NAME=TEXT`, `NAME=@FILE` or `NAME=<FILE`.
    Form,
    /// `NAME=VALUE` pairs, or the name of a file.
    Cookies,
    /// A file that is sent.
    Upload,
    /// A file that is read.
    File,
    /// A file that is written.
    Output,
    /// A format of the output.
    Format,
    /// A URL.
    Url,
    /// A number of redirections.
    Redirections,
}

/// The allowed options by their accepted values: the name of each, and after a slash its letter.
/// All other options of curl are denied: they write files, load settings, or lead to other hosts.
const OPTIONS: &[(OptionValue, &[&str])] = &[
    (
        OptionValue::Nothing,
        words!(
            "basic compressed create-dirs digest disable/q fail/f fail-early fail-with-body get/G",
            "globoff/g head/I help/h http1.0/0 http1.1 http2 http2-prior-knowledge include/i",
            "insecure/k ipv4/4 ipv6/6 location/L next/: no-buffer/N no-progress-meter parallel/Z",
            "path-as-is progress-bar/# retry-all-errors retry-connrefused show-error/S",
            "show-headers silent/s tcp-nodelay verbose/v version/V",
        ),
    ),
    (
        OptionValue::Anything,
        words!(
            "connect-timeout data-raw expect100-timeout form-string limit-rate max-filesize",
            "max-time/m noproxy oauth2-bearer range/r referer/e request/X retry retry-delay",
            "retry-max-time speed-time/y speed-limit/Y user/u user-agent/A",
        ),
    ),
    (
        OptionValue::TextOrFile,
        words!("data/d data-ascii data-binary header/H json"),
    ),
    (OptionValue::Encoded, words!("data-urlencode")),
    (OptionValue::Form, words!("form/F")),
    (OptionValue::Cookies, words!("cookie/b")),
    (OptionValue::Upload, words!("upload-file/T")),
    (OptionValue::File, words!("cacert")),
    (
        OptionValue::Output,
        words!("cookie-jar/c dump-header/D output/o"),
    ),
    (OptionValue::Format, words!("write-out/w")),
    (OptionValue::Url, words!("url")),
    (OptionValue::Redirections, words!("max-redirs")),
];

/// Returns the option whose name and letter `is_meant` accepts, with its accepted values.
fn find(is_matched: impl Fn(&str, &str) -> bool) -> Option<(&'static str, OptionValue)> {
    OPTIONS.iter().find_map(|(accepts, options)| {
        let mut options = options
            .iter()
            .map(|option| option.split_once('/').unwrap_or((option, "")));
        let (name, _) = options.find(|(name, letter)| is_matched(name, letter))?;
        Some((name, *accepts))
    })
}

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    in_run_mode(call, |call| {
        let mut request = Request::default();
        request.read(call)?;
        if !request.is_answered {
            return Err(call
                .deny(Rule::R86, "curl needs a URL")
                .instead("write curl http://localhost:PORT/PATH"));
        }
        // The scope of `--max-redirs` ends at `--next`.
        let is_bounded = request.stops && !request.has_next;
        match request.follows.filter(|_| !is_bounded) {
            Some(span) => {
                let reason = "a redirection may lead to another machine";
                Err(Denial::by(Rule::R86, span, reason)
                    .instead("leave out -L, and print the Location header with -i"))
            }
            None => Ok(()),
        }
    })
}

/// The parsed command line.
#[derive(Default)]
struct Request {
    /// The option that enables redirections.
    follows: Option<Span>,
    /// Whether no redirection is followed: `--max-redirs 0`.
    stops: bool,
    /// Whether another request with its own options follows.
    has_next: bool,
    /// Whether it has a URL, or only prints information about curl.
    is_answered: bool,
}

impl Request {
    /// Reads the arguments like curl: long options in full, their values as the next argument,
    /// letters in clusters.
    fn read(&mut self, call: &Call<'_, '_, '_>) -> Checked {
        let mut args = call.args.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_ref();
            if arg.is("--") {
                return args.try_for_each(|url| self.url(call, url));
            }
            if let Some(name) = text.strip_prefix("--") {
                let known = find(|long, _| long == name);
                match known.filter(|_| arg.known().is_some()) {
                    Some((_, OptionValue::Nothing)) => self.flag(name, arg),
                    Some((_, accepts)) => {
                        self.value(call, accepts, next(call, arg, args.next())?, arg)?;
                    }
                    None => return Err(refuse(call, text, arg)),
                }
            } else if text.starts_with('-') {
                self.letters(call, arg, &mut args)?;
            } else {
                self.url(call, arg)?;
            }
        }
        Ok(())
    }

    fn url(&mut self, call: &Call<'_, '_, '_>, url: &Arg<'_>) -> Checked {
        self.is_answered = true;
        if is_local(call, url) {
            Ok(())
        } else {
            Err(deny_remote(call, url.span))
        }
    }

    /// Reads a cluster of short options.
    fn letters<'c, 's: 'c>(
        &mut self,
        call: &Call<'_, '_, 's>,
        arg: &'c Arg<'s>,
        args: &mut impl Iterator<Item = &'c Arg<'s>>,
    ) -> Checked {
        let text = arg.text.as_ref();
        for (at, letter) in text.char_indices().skip(1) {
            let known = find(|_, short| short.chars().eq([letter]));
            let Some((name, accepts)) = known else {
                return Err(refuse(call, &format!("-{letter}"), arg));
            };
            if accepts == OptionValue::Nothing {
                self.flag(name, arg);
                continue;
            }
            let end = at + letter.len_utf8();
            if end == text.len() && arg.is_static() {
                return self.value(call, accepts, next(call, arg, args.next())?, arg);
            }
            if call.splits_into_more(arg) || arg.is_pattern() {
                return Err(call.deny_dynamic(arg));
            }
            return self.value(call, accepts, &arg.without_first(end), arg);
        }
        match arg.known() {
            Some(text) if text.len() > 1 => Ok(()),
            _ => Err(call.deny_dynamic(arg)),
        }
    }

    fn flag(&mut self, name: &str, arg: &Arg<'_>) {
        match name {
            "location" => self.follows = Some(arg.span),
            "next" => self.has_next = true,
            "help" | "version" => self.is_answered = true,
            _ => {}
        }
    }

    fn value(
        &mut self,
        call: &Call<'_, '_, '_>,
        accepts: OptionValue,
        value: &Arg<'_>,
        option: &Arg<'_>,
    ) -> Checked {
        let text = value.text.as_ref();
        // Static text before an expansion determines the meaning of the value.
        let is_fine = match accepts {
            OptionValue::Nothing | OptionValue::Anything => true,
            OptionValue::Redirections => {
                self.stops = value.is("0");
                true
            }
            OptionValue::Url => return self.url(call, value),
            OptionValue::Output if text == "-" && value.is_static() => true,
            // `#1` is replaced by a part of the URL.
            OptionValue::Output if text.contains('#') => false,
            OptionValue::Output => return call.check_write_target(value, Root::Refused),
            OptionValue::Format => format_text(call, value)
                .is_some_and(|text| !text.starts_with('@') && !text.contains("%output")),
            OptionValue::File => {
                value.known().is_some() && !credentials::is_credential_path(call, value)
            }
            OptionValue::Upload => value.known().is_some_and(|file| may_send(call, file)),
            OptionValue::TextOrFile => match text.strip_prefix('@') {
                Some(file) => value.is_static() && may_send(call, file),
                None => !text.is_empty() || value.is_static(),
            },
            OptionValue::Cookies => {
                text.contains('=') || (value.is_static() && may_send(call, text))
            }
            OptionValue::Encoded => match text.find(['=', '@']) {
                Some(at) if text[at..].starts_with('=') => true,
                Some(at) => value.is_static() && may_send(call, &text[at + 1..]),
                None => value.is_static(),
            },
            OptionValue::Form => value.is_static() && is_plain_form(call, text),
        };
        if is_fine {
            Ok(())
        } else {
            let reason = format!("the value of '{}' may name another file", option.text);
            Err(Denial::by(Rule::R86, value.span, reason).instead(
                "write the value literally, or send text with --data-raw; name files of the \
                     project",
            ))
        }
    }
}

/// Returns the value of the option `option`, which is the next argument.
fn next<'c, 's>(
    call: &Call<'_, '_, 's>,
    option: &Arg<'s>,
    value: Option<&'c Arg<'s>>,
) -> Result<&'c Arg<'s>, Denial> {
    match value {
        Some(value) if value.is_pattern() || call.may_shift(value) => Err(call.deny_dynamic(value)),
        Some(value) => Ok(value),
        None => Err(refuse(call, &option.text, option)),
    }
}

fn refuse(call: &Call<'_, '_, '_>, name: &str, arg: &Arg<'_>) -> Denial {
    call.deny_flag(Rule::R86, name, arg.span)
}

/// Returns whether a file may be sent: one of the project or below `/tmp` without credentials, or
/// standard input.
fn may_send(call: &Call<'_, '_, '_>, file: &str) -> bool {
    let is_credential = || {
        let file = Arg::plain(file.to_owned(), call.span);
        credentials::is_credential_path(call, &file)
    };
    file == "-" || (!file.contains(['{', '[', '~']) && call.is_in_reach(file) && !is_credential())
}

/// Returns whether `NAME=VALUE` of a form sends text, or a file that may be sent.
fn is_plain_form(call: &Call<'_, '_, '_>, form: &str) -> bool {
    let Some((_, value)) = form.split_once('=') else {
        return false;
    };
    if form.contains("headers=") || value.starts_with('(') {
        return false;
    }
    let Some(file) = value.strip_prefix(['@', '<']) else {
        return true;
    };
    let file = file.split(';').next().unwrap_or_default();
    !file.contains([',', '"', '\\']) && may_send(call, file)
}

/// Returns the text of a format, with a digit in place of every unknown number.
fn format_text(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Option<String> {
    if let Some(text) = value.known() {
        return Some(text.to_owned());
    }
    let parts = value.flat_parts();
    let texts = parts.map(|part| match part {
        Part::Literal(text) | Part::Quoted(text) => Some(text.as_ref()),
        part if numeric::is_safe_part(call.context.scope, part) => Some("0"),
        _ => None,
    });
    texts.collect()
}
