//! `curl`: requests to servers on this machine.

use super::local_url::is_local;
use super::{elsewhere, in_run_mode};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::credentials;
use crate::check::write_target::Root;
use crate::syntax::Span;
use crate::{Denial, Rule};

/// What the value of an option may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accepts {
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
    /// A format, which is printed.
    Format,
    /// A URL.
    Url,
    /// A number of redirections.
    Redirections,
}

/// An option by its letter, if it has one, and its name.
type Known = (&'static str, &'static str, Accepts);

/// The options that are allowed. curl has many more, which are refused: they write files, load
/// settings, or lead elsewhere.
const OPTIONS: &[Known] = &[
    ("", "basic", Accepts::Nothing),
    ("", "cacert", Accepts::File),
    ("", "compressed", Accepts::Nothing),
    ("", "connect-timeout", Accepts::Anything),
    ("b", "cookie", Accepts::Cookies),
    ("c", "cookie-jar", Accepts::Output),
    ("", "create-dirs", Accepts::Nothing),
    ("d", "data", Accepts::TextOrFile),
    ("", "data-ascii", Accepts::TextOrFile),
    ("", "data-binary", Accepts::TextOrFile),
    ("", "data-raw", Accepts::Anything),
    ("", "data-urlencode", Accepts::Encoded),
    ("", "digest", Accepts::Nothing),
    ("q", "disable", Accepts::Nothing),
    ("D", "dump-header", Accepts::Output),
    ("", "expect100-timeout", Accepts::Anything),
    ("f", "fail", Accepts::Nothing),
    ("", "fail-early", Accepts::Nothing),
    ("", "fail-with-body", Accepts::Nothing),
    ("F", "form", Accepts::Form),
    ("", "form-string", Accepts::Anything),
    ("G", "get", Accepts::Nothing),
    ("g", "globoff", Accepts::Nothing),
    ("I", "head", Accepts::Nothing),
    ("H", "header", Accepts::TextOrFile),
    ("h", "help", Accepts::Nothing),
    ("0", "http1.0", Accepts::Nothing),
    ("", "http1.1", Accepts::Nothing),
    ("", "http2", Accepts::Nothing),
    ("", "http2-prior-knowledge", Accepts::Nothing),
    ("i", "include", Accepts::Nothing),
    ("k", "insecure", Accepts::Nothing),
    ("4", "ipv4", Accepts::Nothing),
    ("6", "ipv6", Accepts::Nothing),
    ("", "json", Accepts::TextOrFile),
    ("", "limit-rate", Accepts::Anything),
    ("L", "location", Accepts::Nothing),
    ("", "max-filesize", Accepts::Anything),
    ("", "max-redirs", Accepts::Redirections),
    ("m", "max-time", Accepts::Anything),
    (":", "next", Accepts::Nothing),
    ("N", "no-buffer", Accepts::Nothing),
    ("", "no-progress-meter", Accepts::Nothing),
    ("", "noproxy", Accepts::Anything),
    ("", "oauth2-bearer", Accepts::Anything),
    ("o", "output", Accepts::Output),
    ("Z", "parallel", Accepts::Nothing),
    ("", "path-as-is", Accepts::Nothing),
    ("#", "progress-bar", Accepts::Nothing),
    ("r", "range", Accepts::Anything),
    ("e", "referer", Accepts::Anything),
    ("X", "request", Accepts::Anything),
    ("", "retry", Accepts::Anything),
    ("", "retry-all-errors", Accepts::Nothing),
    ("", "retry-connrefused", Accepts::Nothing),
    ("", "retry-delay", Accepts::Anything),
    ("", "retry-max-time", Accepts::Anything),
    ("S", "show-error", Accepts::Nothing),
    ("", "show-headers", Accepts::Nothing),
    ("s", "silent", Accepts::Nothing),
    ("y", "speed-time", Accepts::Anything),
    ("Y", "speed-limit", Accepts::Anything),
    ("", "tcp-nodelay", Accepts::Nothing),
    ("T", "upload-file", Accepts::Upload),
    ("", "url", Accepts::Url),
    ("u", "user", Accepts::Anything),
    ("A", "user-agent", Accepts::Anything),
    ("v", "verbose", Accepts::Nothing),
    ("V", "version", Accepts::Nothing),
    ("w", "write-out", Accepts::Format),
];

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    in_run_mode(call, |call| {
        let mut request = Request::default();
        request.read(call)?;
        if !request.is_answered {
            return Err(call
                .deny(Rule::R86, "curl needs a URL")
                .instead("write curl http://localhost:PORT/PATH"));
        }
        // What `--max-redirs` says ends at `--next`.
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

/// What is known of a command line.
#[derive(Default)]
struct Request {
    /// Where redirections are turned on.
    follows: Option<Span>,
    /// No redirection is followed: `--max-redirs 0`.
    stops: bool,
    /// Another request with options of its own follows.
    has_next: bool,
    /// It has a URL, or only asks what curl is.
    is_answered: bool,
}

impl Request {
    /// Reads the arguments as curl does: long options in full, their values as the next argument,
    /// letters written together.
    fn read(&mut self, call: &Call<'_, '_, '_>) -> Checked {
        let mut args = call.args.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_ref();
            if arg.is("--") {
                return args.try_for_each(|url| self.url(call, url));
            }
            if let Some(name) = text.strip_prefix("--") {
                let known = OPTIONS.iter().find(|(_, long, _)| *long == name);
                match known.filter(|_| arg.known().is_some()) {
                    Some((_, _, Accepts::Nothing)) => self.flag(name, arg),
                    Some((_, _, accepts)) => {
                        self.value(call, *accepts, next(call, arg, args.next())?, arg)?;
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
            Err(elsewhere(call, url.span))
        }
    }

    /// Reads short options that are written together.
    fn letters<'c, 's: 'c>(
        &mut self,
        call: &Call<'_, '_, 's>,
        arg: &'c Arg<'s>,
        args: &mut impl Iterator<Item = &'c Arg<'s>>,
    ) -> Checked {
        let text = arg.text.as_ref();
        for (at, letter) in text.char_indices().skip(1) {
            let known = OPTIONS
                .iter()
                .find(|(short, _, _)| short.chars().eq([letter]));
            let Some((_, name, accepts)) = known else {
                return Err(refuse(call, &format!("-{letter}"), arg));
            };
            if *accepts == Accepts::Nothing {
                self.flag(name, arg);
                continue;
            }
            let end = at + letter.len_utf8();
            if end == text.len() && arg.is_static() {
                return self.value(call, *accepts, next(call, arg, args.next())?, arg);
            }
            if call.splits_into_more(arg) || arg.is_pattern() {
                return Err(call.deny_dynamic(arg));
            }
            return self.value(call, *accepts, &arg.without_first(end), arg);
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
        accepts: Accepts,
        value: &Arg<'_>,
        option: &Arg<'_>,
    ) -> Checked {
        let text = value.text.as_ref();
        // Static text in front of an expansion decides what the value is.
        let is_fine = match accepts {
            Accepts::Nothing | Accepts::Anything => true,
            Accepts::Redirections => {
                self.stops = value.is("0");
                true
            }
            Accepts::Url => return self.url(call, value),
            Accepts::Output if text == "-" && value.is_static() => true,
            // `#1` stands for a part of the URL.
            Accepts::Output if text.contains('#') => false,
            Accepts::Output => return call.write_target(value, Root::Refused),
            Accepts::Format => value
                .known()
                .is_some_and(|text| !text.starts_with('@') && !text.contains("%output")),
            Accepts::File => {
                value.known().is_some() && !credentials::is_credential_path(call, value)
            }
            Accepts::Upload => value.known().is_some_and(|file| may_send(call, file)),
            Accepts::TextOrFile => match text.strip_prefix('@') {
                Some(file) => value.is_static() && may_send(call, file),
                None => !text.is_empty() || value.is_static(),
            },
            Accepts::Cookies => text.contains('=') || (value.is_static() && may_send(call, text)),
            Accepts::Encoded => match text.find(['=', '@']) {
                Some(at) if text[at..].starts_with('=') => true,
                Some(at) => value.is_static() && may_send(call, &text[at + 1..]),
                None => value.is_static(),
            },
            Accepts::Form => value.is_static() && is_plain_form(call, text),
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
/// the input.
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
