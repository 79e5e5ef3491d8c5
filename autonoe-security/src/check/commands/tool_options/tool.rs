//! A tool and its arguments, independent of the command that starts it.

use super::spelling::{flags, matches_option};
use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::commands::tools::own_options;
use crate::option_table::OptionArity;

/// A tool and its arguments, also if another tool starts it.
pub(in crate::check::commands) struct Tool<'t, 'c, 'w, 's> {
    pub(in crate::check::commands) call: &'t Call<'c, 'w, 's>,
    pub(in crate::check::commands) name: &'t str,
    pub(in crate::check::commands) args: &'t [Arg<'s>],
    /// The position of the first operand, if the tool has subcommands.
    pub(in crate::check::commands) at: Option<usize>,
}

impl<'t, 's> Tool<'t, '_, '_, 's> {
    /// Returns the arguments that are not options.
    pub(in crate::check::commands) fn operands(&self) -> impl Iterator<Item = &'t Arg<'s>> {
        self.args
            .iter()
            .filter(|arg| !arg.text.starts_with('-') && !arg.text.starts_with('+'))
    }

    /// Returns the arguments that are neither options nor the value of an option that takes one.
    /// After `--`, each argument counts.
    pub(in crate::check::commands) fn words(&self) -> Vec<&'t Arg<'s>> {
        let options = own_options(self.name);
        let mut words = Vec::with_capacity(self.args.len());
        let (mut is_value, mut is_ended) = (false, false);
        for arg in self.args {
            let text = arg.text.as_ref();
            if std::mem::take(&mut is_value) {
                continue;
            }
            if !is_ended && arg.is("--") {
                is_ended = true;
            } else if is_ended || !text.starts_with(['-', '+']) {
                words.push(arg);
            } else {
                let takes = options.and_then(|options| options.find(text));
                is_value = takes == Some(OptionArity::Value);
            }
        }
        words
    }

    /// Returns the subcommand, if it is known.
    pub(in crate::check::commands) fn first(&self) -> Option<&'t str> {
        self.args.get(self.at?)?.known()
    }

    /// Returns the word directly after the subcommand.
    pub(in crate::check::commands) fn second(&self) -> Option<&'t str> {
        self.args.get(self.at? + 1)?.known()
    }

    /// Returns whether one of the arguments before `--` is exactly `text`.
    pub(in crate::check::commands) fn has(&self, text: &str) -> bool {
        let mut own = self.args.iter().take_while(|arg| !arg.is("--"));
        own.any(|arg| arg.is(text))
    }

    /// Returns whether one of the arguments is exactly `text`, also after `--`.
    pub(in crate::check::commands) fn has_anywhere(&self, text: &str) -> bool {
        self.args.iter().any(|arg| arg.is(text))
    }

    /// Returns whether one of the options is present, with or without a value.
    pub(in crate::check::commands) fn has_option(&self, names: &[&str]) -> bool {
        self.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            names.contains(&option_name(text))
        })
    }

    /// Returns whether an option starts with one of these.
    pub(in crate::check::commands) fn has_option_like(&self, starts: &[&str]) -> bool {
        let mut options = self.args.iter().map(|arg| arg.text.as_ref());
        options.any(|text| starts.iter().any(|start| text.starts_with(start)))
    }

    /// Returns the values of the options `names`: in the same argument, after `=`, or in the next
    /// one. A name that ends in `=` has a value only after that; one that ends in `?` takes the
    /// next argument unless that is an option.
    pub(in crate::check::commands) fn values_of(&self, names: &[&str]) -> Vec<Option<Arg<'s>>> {
        let mut values = Vec::new();
        let all_have_dashes = names.iter().all(|name| name.starts_with('-'));
        for (at, arg) in self.args.iter().enumerate() {
            let text = arg.text.as_ref();
            // A word without a dash has one spelling.
            let is_option = text.starts_with('-');
            if !is_option && all_have_dashes {
                continue;
            }
            let name = option_name(text);
            let next = || self.args.get(at + 1).cloned();
            let has_value = text.len() > name.len() || !arg.is_static();
            let is_option_next = || next().is_some_and(|next| next.text.starts_with('-'));
            let is_matched = |option: &str| {
                if is_option {
                    matches_option(self.name, name, option)
                } else {
                    name == option
                }
            };
            let is_named = |option: &&str| {
                if let Some(option) = option.strip_suffix('=') {
                    return has_value && is_matched(option);
                }
                match option.strip_suffix('?') {
                    Some(option) => is_matched(option) && (has_value || !is_option_next()),
                    None => is_matched(option),
                }
            };
            if names.iter().any(is_named) {
                values.push(if has_value {
                    Some(arg.without_first(name.len() + 1))
                } else {
                    next()
                });
                continue;
            }
            if !is_option {
                continue;
            }
            let short = names.iter().filter(|option| option.len() == 2);
            let ends = short.filter_map(|option| end_of_letter(self.name, text, &option[1..]));
            for end in ends {
                values.push(if end < text.len() || !arg.is_static() {
                    Some(arg.without_first(end))
                } else {
                    next()
                });
            }
        }
        values
    }
}

/// Returns the part of an argument before `=`.
pub(in crate::check::commands) fn option_name(text: &str) -> &str {
    let end = text.bytes().position(|byte| byte == b'=');
    end.map_or(text, |end| &text[..end])
}

/// Returns the end of `letter` in `text`, one or more short options of `tool`.
fn end_of_letter(tool: &str, text: &str, letter: &str) -> Option<usize> {
    let letters = text.strip_prefix('-')?;
    let behind = letters.trim_start_matches(|flag| flags(tool).contains(flag));
    // A flag with this name counts as well.
    let behind = if letters.starts_with(letter) {
        letters
    } else {
        behind
    };
    let rest = behind.strip_prefix(letter)?;
    Some(text.len() - rest.len())
}
