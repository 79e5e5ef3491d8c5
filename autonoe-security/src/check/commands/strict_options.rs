//! Allow-list of options, with a check for each value.
//!
//! For tools whose options can load code, start programs or write files in many ways. Unlike
//! [`super::option_allow_list`], it knows what each value means, and accepts no abbreviations.

use super::built_programs;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::text::has_only;
use crate::check::text::is_number;
use crate::check::write_target::{Root, escapes};
use crate::check::{credentials, known_values, path, symlinks};
use crate::syntax::{Part, SimpleCommand, Span, commands};
use crate::{Denial, Rule};

/// The allowed options of a tool.
pub(super) struct StrictOptions {
    pub(super) rule: Rule,
    /// The alternative to a denied option.
    pub(super) instead: &'static str,
    /// Names of options with the kind of their value.
    ///
    /// A name without a mark is a flag. `name=` takes the next argument, or a value after `=`.
    /// `name:` takes the next argument, or a value in the same argument. `name?` takes a value after
    /// `=` only, if at all.
    pub(super) groups: &'static [(&'static [&'static str], Value)],
}

/// The meaning of a value.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// There is none.
    Nothing,
    /// A text that is no path.
    Text,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A file or folder that the tool runs, or from which it reads settings: of the project.
    Source,
    /// A file or folder that the tool only reads or links: of the project, `/tmp` or the system.
    Library,
    /// A file or folder that the tool writes.
    Output,
    /// A required value that this function accepts.
    By(fn(&Call<'_, '_, '_>, &Arg<'_>) -> Checked),
    /// A number of jobs, which may be left out.
    Count,
}

/// An option with its value, or an operand.
pub(super) enum Item<'c, 's> {
    Option {
        name: &'static str,
        value: Option<Arg<'s>>,
    },
    Operand(&'c Arg<'s>),
}

/// Judges an argument that no table lists, and returns whether it is allowed.
pub(super) type Special = fn(&Call<'_, '_, '_>, &Arg<'_>) -> Result<bool, Denial>;

/// The place of a value.
enum Place {
    Nowhere,
    Next,
    /// In the same argument, from this byte on.
    Attached(usize),
}

impl StrictOptions {
    /// Reads `args`, options and operands mixed, and checks the values of the options.
    pub(super) fn read<'c, 's>(
        &self,
        call: &Call<'_, '_, 's>,
        args: &'c [Arg<'s>],
        special: Special,
    ) -> Result<Vec<Item<'c, 's>>, Denial> {
        let mut items = Vec::with_capacity(args.len());
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            if arg.is("--") {
                // Not every tool ends its options here.
                if let Some(option) = args[at..].iter().find(|it| it.text.starts_with('-')) {
                    return Err(self.deny(call, option));
                }
                continue;
            }
            if !arg.text.starts_with('-') || arg.is("-") {
                if !call.is_option_safe(arg) && !prints_sources(arg) {
                    return Err(call.deny_dynamic(arg));
                }
                if !special(call, arg)? {
                    items.push(Item::Operand(arg));
                }
                continue;
            }
            let next = args.get(at);
            let (item, used) = self.option(call, arg, next, special)?;
            items.extend(item);
            at += used;
        }
        Ok(items)
    }

    /// Reads options in front of the first operand, and returns them and the remaining arguments.
    pub(super) fn read_leading<'c, 's>(
        &self,
        call: &Call<'_, '_, 's>,
        mut args: &'c [Arg<'s>],
        special: Special,
    ) -> Result<(Vec<Item<'c, 's>>, &'c [Arg<'s>]), Denial> {
        let mut items = Vec::new();
        while let [first, rest @ ..] = args
            && first.text.starts_with('-')
        {
            let (item, used) = self.option(call, first, rest.first(), special)?;
            items.extend(item);
            args = rest.get(used..).unwrap_or_default();
        }
        Ok((items, args))
    }

    /// Reads one option, and returns the number of following arguments that belong to it.
    pub(super) fn option<'c, 's>(
        &self,
        call: &Call<'_, '_, 's>,
        arg: &'c Arg<'s>,
        next: Option<&'c Arg<'s>>,
        special: Special,
    ) -> Result<(Option<Item<'c, 's>>, usize), Denial> {
        if special(call, arg)? {
            return Ok((None, 0));
        }
        let Some((name, kind, mut place)) = self.find(arg) else {
            return Err(self.deny(call, arg));
        };
        if matches!((kind, &place), (Value::Count, Place::Next)) && !next.is_some_and(is_count) {
            place = Place::Nowhere;
        }
        let (value, used) = match place {
            Place::Nowhere => (None, 0),
            Place::Next => (next.cloned(), usize::from(next.is_some())),
            Place::Attached(from) => (Some(arg.without_first(from)), 0),
        };
        if let Some(value) = &value {
            if let Value::By(check) = kind {
                check(call, value)?;
            }
            if matches!(place, Place::Next) {
                if call.may_shift(value) {
                    return Err(call.deny_dynamic(value));
                }
                // The tool may read it as the next option.
                if value.text.len() > 1 && value.text.starts_with('-') {
                    return Err(self.deny(call, arg));
                }
            }
            self.check(call, arg, kind, value)?;
        } else if matches!(kind, Value::By(_)) {
            return Err(self.deny(call, arg));
        }
        Ok((Some(Item::Option { name, value }), used))
    }

    /// Finds the option that `arg` names.
    fn find(&self, arg: &Arg<'_>) -> Option<(&'static str, Value, Place)> {
        let text = arg.text.as_ref();
        let mut joined = None;
        for (names, kind) in self.groups {
            for entry in *names {
                let name = entry.trim_end_matches(['=', ':', '?']);
                let mark = entry.as_bytes().get(name.len());
                let Some(rest) = text.strip_prefix(name) else {
                    continue;
                };
                let end = name.len();
                match (mark, rest) {
                    (Some(b':'), "")
                        if !arg.is_static() && matches!(kind, Value::By(_) | Value::Count) =>
                    {
                        return Some((name, *kind, Place::Attached(end)));
                    }
                    // More text may follow.
                    (_, "") if !arg.is_static() => {}
                    (None | Some(b'?'), "") => return Some((name, *kind, Place::Nowhere)),
                    (_, "") => return Some((name, *kind, Place::Next)),
                    (Some(b'=' | b'?'), rest) if rest.starts_with('=') => {
                        return Some((name, *kind, Place::Attached(end + 1)));
                    }
                    (Some(b':'), rest) if !rest.starts_with('=') => {
                        joined = Some((name, *kind, Place::Attached(end)));
                    }
                    _ => {}
                }
            }
        }
        joined
    }

    fn check(
        &self,
        call: &Call<'_, '_, '_>,
        option: &Arg<'_>,
        kind: Value,
        value: &Arg<'_>,
    ) -> Checked {
        if value.is_pattern() && !matches!(kind, Value::By(_)) {
            return Err(call.deny_dynamic(value));
        }
        match kind {
            Value::Nothing => Err(self.deny(call, option)),
            Value::Text => check_text(call, value),
            Value::OneOf(words) => match value.known().filter(|word| words.contains(word)) {
                Some(_) => Ok(()),
                None => Err(self.deny(call, option)),
            },
            Value::Source => check_source(call, self.rule, value),
            Value::Library => check_library(call, self.rule, value),
            // Some tools expand `~` themselves.
            Value::Output if value.text.starts_with('~') => Err(escapes(value, self.rule)),
            Value::Output => call.check_write_target(value, Root::Accepted),
            // It was judged first, for a better reason.
            Value::By(_) => Ok(()),
            Value::Count if is_count(value) => Ok(()),
            Value::Count => Err(self.deny(call, option)),
        }
    }

    /// Creates the denial of an option.
    pub(super) fn deny(&self, call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Denial {
        let flag = arg.text.split('=').next().unwrap_or_default();
        call.deny_flag(self.rule, flag, arg.span)
            .instead(self.instead)
    }
}

/// Returns whether an argument is a number, or a command that prints the number of processors.
pub(super) fn is_count(arg: &Arg<'_>) -> bool {
    if let Some(text) = arg.known() {
        return is_number(text);
    }
    let last = match arg.parts.last() {
        Some(Part::DoubleQuoted(inner)) => inner.last(),
        last => last,
    };
    let Some(Part::CommandSubstitution(inner)) = last.filter(|_| arg.text.is_empty()) else {
        return false;
    };
    let mut all = commands(&inner.script);
    let words = all.next().and_then(SimpleCommand::static_words);
    let is_only = all.next().is_none();
    let words = words.unwrap_or_default();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    is_only
        && matches!(
            words[..],
            ["nproc"]
                | [
                    "sysctl",
                    "-n",
                    "hw.ncpu" | "hw.logicalcpu" | "hw.physicalcpu"
                ]
                | ["getconf", "_NPROCESSORS_ONLN"]
        )
}

/// Checks a folder whose build runs: of the project, or one in `/tmp` that the same text has just
/// configured.
pub(super) fn check_build_folder(call: &Call<'_, '_, '_>, folder: &Arg<'_>) -> Checked {
    match folder.known() {
        Some(path) if built_programs::is_built_folder(call, path) => Ok(()),
        _ => check_source(call, Rule::R101, folder),
    }
}

/// Accepts no argument that is not in a table.
pub(super) fn nothing_special(_: &Call<'_, '_, '_>, _: &Arg<'_>) -> Result<bool, Denial> {
    Ok(false)
}

/// Checks that a text stays one argument.
pub(super) fn check_text(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    if value.is_pattern() || !(value.is_static() || call.stays_one_word(value)) {
        Err(call.deny_dynamic(value))
    } else {
        Ok(())
    }
}

/// Checks that a file or folder that a tool runs, or from which it reads settings, belongs to the
/// project.
pub(super) fn check_source(call: &Call<'_, '_, '_>, rule: Rule, value: &Arg<'_>) -> Checked {
    for text in paths(value, call).ok_or_else(|| escapes(value, rule))? {
        check_source_path(call, rule, &text, value.span)?;
    }
    Ok(())
}

/// Checks a path of [`check_source`].
pub(super) fn check_source_path(
    call: &Call<'_, '_, '_>,
    rule: Rule,
    path: &str,
    span: Span,
) -> Checked {
    let project = call.policy().project_dir();
    let source = Arg::plain(path.to_owned(), span);
    let is_file = path != "-" && !path.contains("://");
    let Some(places) = call.directories.resolve(path).filter(|_| is_file) else {
        return Err(escapes(&source, rule));
    };
    for place in &places {
        if !path::is_within(place, project) {
            return Err(escapes(&source, rule));
        }
        if path::is_protected(&place[project.len()..]) {
            return Err(
                Denial::by(rule, span, format!("'{path}' is in a protected folder"))
                    .instead("use another folder of the project"),
            );
        }
        symlinks::check_in_project(call.context, place, span)?;
    }
    Ok(())
}

/// Folders of the system, which agents cannot change.
const SYSTEM_FOLDERS: [&str; 5] = ["/usr", "/opt", "/lib", "/lib64", "/Library"];

/// Checks that a file or folder that a tool only reads belongs to the project, `/tmp` or the system.
pub(super) fn check_library(call: &Call<'_, '_, '_>, rule: Rule, value: &Arg<'_>) -> Checked {
    let all = paths(value, call).ok_or_else(|| escapes(value, rule))?;
    match all.iter().find(|path| !is_library(call, path)) {
        Some(_) => Err(escapes(value, rule)),
        None => Ok(()),
    }
}

/// Returns whether a path is in the project, `/tmp` or a folder of the system, and not protected.
pub(super) fn is_library(call: &Call<'_, '_, '_>, path: &str) -> bool {
    is_of_system(path) || is_in_reach(call, path)
}

/// Returns whether a path is in the project or `/tmp`, and not protected.
pub(super) fn is_in_reach(call: &Call<'_, '_, '_>, path: &str) -> bool {
    let project = call.policy().project_dir();
    let is_inside = |place: &str| {
        path::is_within(place, project) && !path::is_protected(&place[project.len()..])
            || path::is_within(place, "/tmp") && !path::is_protected(place)
    };
    !path.starts_with('~')
        && !path::is_protected(path::below(path, project))
        && call.directories.all_locations(path, is_inside)
}

/// Returns whether a path is in the project or a folder of the system, and not protected.
pub(super) fn is_code(call: &Call<'_, '_, '_>, path: &str) -> bool {
    let project = call.policy().project_dir();
    let is_inside = |place: &str| path::is_within(place, project);
    is_of_system(path)
        || (is_in_reach(call, path) && call.directories.all_locations(path, is_inside))
}

/// Returns whether a path is in a folder of the system.
pub(super) fn is_of_system(path: &str) -> bool {
    let mut folders = SYSTEM_FOLDERS.iter();
    folders.any(|folder| path::is_within(path, folder)) && !path.contains("..")
}

/// Returns every path that `value` may be, with wildcards; `None` if one is unknown, or in the home
/// directory.
pub(super) fn paths(value: &Arg<'_>, call: &Call<'_, '_, '_>) -> Option<Vec<String>> {
    if value.tilde || value.text.starts_with('~') {
        None
    } else if value.is_static() {
        Some(vec![value.text.to_string()])
    } else {
        known_values::loop_texts(call.context.scope, value)
            .or_else(|| credentials::paths_below_working_directory(call, value))
    }
}

/// Extensions of sources.
const SOURCES: &[&str] = words!("*.c *.cc *.cpp *.cxx *.java *.o *.proto *.s");

/// Returns whether an argument is the output of `find DIR -name '*.java'` below the current
/// directory: the names of sources, like those that a pattern matches.
fn prints_sources(arg: &Arg<'_>) -> bool {
    let [Part::CommandSubstitution(inner)] = &arg.parts[..] else {
        return false;
    };
    let mut all = commands(&inner.script);
    let (Some(only), None) = (all.next(), all.next()) else {
        return false;
    };
    let words = only.static_words().unwrap_or_default();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let ["find", rest @ ..] = &words[..] else {
        return false;
    };
    let places = rest.iter().take_while(|word| !word.starts_with('-'));
    let count = places.clone().count();
    let is_below = |place: &&str| path::stays_below(place) && !place.is_empty();
    let conditions = match &rest[count..] {
        ["-type", "f", conditions @ ..] => conditions,
        conditions => conditions,
    };
    count > 0
        && places.clone().all(is_below)
        && matches!(conditions, ["-name", name] if SOURCES.contains(name))
}

/// Checks operands that are sources or other files to read. A pattern counts by the folder before
/// it, and must end in the extension of a source if it begins with a wildcard.
pub(super) fn check_input(call: &Call<'_, '_, '_>, rule: Rule, file: &Arg<'_>) -> Checked {
    let text = file.text.as_ref();
    if file.globs.first() == Some(&0) && file.is_static() {
        let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_source = !extension.is_empty() && has_only(extension, "+");
        if !is_source {
            let reason = format!("'{text}' may match a file whose name is an option");
            return Err(Denial::by(Rule::R21, file.span, reason)
                .instead("begin the pattern with ./, as in ./*.c"));
        }
    }
    if prints_sources(file) {
        return Ok(());
    }
    if file.is_static() || paths(file, call).is_some() {
        return check_library(call, rule, file);
    }
    // A variable of the environment, or a name that another command prints.
    let begins_outside = !file.text.is_empty() && !is_library(call, &file.text);
    if begins_outside || file.is_in_home() {
        return Err(escapes(file, rule));
    }
    Ok(())
}
