//! Splits the arguments of a subcommand into options, their values and operands.

use super::spelling::{self, Long};
use super::tables::{self, Table};
use super::word_splitting::{adds_no_option, may_split};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::option_table::OptionArity;
use crate::{Denial, Rule};

/// The parsed arguments of a subcommand.
///
/// If there are two readings, both are included: the argument after an unknown option is its value,
/// and also an operand or an option.
pub(super) struct ParsedArgs<'g, 's> {
    /// The options, in order.
    pub(super) flags: Vec<Flag<'g, 's>>,
    /// The operands, in order.
    pub(super) operands: Vec<Operand<'g, 's>>,
}

/// An option.
pub(super) struct Flag<'g, 's> {
    pub(super) name: Name<'g>,
    /// The value; for an unknown option, the possible value.
    pub(super) value: Option<Arg<'s>>,
    /// The argument that contains it.
    pub(super) arg: &'g Arg<'s>,
    /// Whether it is an option in every reading.
    pub(super) is_certain: bool,
}

/// The spelling of an option.
#[derive(Clone, Copy)]
pub(super) enum Name<'g> {
    Letter(char),
    Long {
        written: &'g str,
        matched: Option<Long>,
    },
}

/// An argument that is not an option.
pub(super) struct Operand<'g, 's> {
    pub(super) arg: &'g Arg<'s>,
    /// Whether it is an operand in every reading.
    pub(super) is_certain: bool,
    /// Whether it may become several operands, or none.
    splits: bool,
}

impl Flag<'_, '_> {
    /// Returns whether it may be the long option `name`, possibly abbreviated.
    pub(super) fn may_be(&self, name: &str) -> bool {
        match self.name {
            Name::Letter(_) => false,
            Name::Long {
                matched: Some(matched),
                ..
            } => !matched.is_negated && matched.name == name,
            Name::Long { written, .. } => !written.is_empty() && name.starts_with(written),
        }
    }

    pub(super) fn is_letter(&self, letter: char) -> bool {
        matches!(self.name, Name::Letter(it) if it == letter)
    }

    /// Returns whether it is the long option `name` in every reading.
    fn is_surely(&self, name: &str) -> bool {
        self.is_certain
            && matches!(self.name, Name::Long { matched: Some(matched), .. }
                if matched.name == name && !matched.is_negated)
    }

    /// Returns whether it may negate the long option `name`.
    fn may_negate(&self, name: &str) -> bool {
        match self.name {
            Name::Letter(_) => false,
            Name::Long {
                matched: Some(matched),
                ..
            } => matched.is_negated && matched.name == name,
            Name::Long { written, .. } => match written.strip_prefix("no-") {
                Some(rest) => name.starts_with(rest),
                None => "no-".starts_with(written),
            },
        }
    }
}

impl<'g, 's> ParsedArgs<'g, 's> {
    /// Parses the arguments of `subcommand`.
    ///
    /// An argument that may turn into an option is denied.
    pub(super) fn parse(
        call: &Call<'_, '_, 's>,
        subcommand: &str,
        args: &'g [Arg<'s>],
    ) -> Result<Self, Denial> {
        let mut reader = Reader {
            call,
            subcommand,
            table: tables::for_subcommand(subcommand),
            before: OptionArity::Nothing,
            read: Self {
                flags: Vec::new(),
                operands: Vec::with_capacity(args.len()),
            },
        };
        let (mut is_ended, mut is_doubtful) = (false, false);
        for arg in args {
            let before = std::mem::replace(&mut reader.before, OptionArity::Nothing);
            if before == OptionArity::Value {
                reader.value(arg)?;
                continue;
            }
            let is_sure = before == OptionArity::Nothing;
            if !is_sure && let Some(flag) = reader.read.flags.last_mut() {
                flag.value = Some(arg.clone());
            }
            if is_ended {
                reader.operand(arg, is_sure);
                if is_doubtful && arg.text.starts_with('-') {
                    reader.option(arg, false)?;
                }
                continue;
            }
            if arg.is("--") {
                is_ended = true;
                is_doubtful |= !is_sure;
            } else if arg.is("--end-of-options") {
                is_doubtful = true;
            } else if is_option(arg) {
                if is_doubtful {
                    reader.operand(arg, false);
                }
                reader.option(arg, is_sure && !is_doubtful)?;
            } else {
                if !call.is_option_safe(arg) {
                    return Err(call.deny_dynamic(arg));
                }
                reader.operand(arg, is_sure);
            }
        }
        Ok(reader.read)
    }

    /// Returns the arguments that may be the operand number `wanted`, counted from zero.
    pub(super) fn at(&self, wanted: usize) -> impl Iterator<Item = &'g Arg<'s>> {
        // The minimum and maximum number of operands before it.
        let (mut least, mut most) = (0_usize, 0_usize);
        self.operands.iter().filter_map(move |operand| {
            let splits = operand.splits;
            let may_be = least <= wanted && (wanted <= most || splits);
            least += usize::from(operand.is_certain && !splits);
            most = most.saturating_add(if splits { usize::MAX } else { 1 });
            may_be.then_some(operand.arg)
        })
    }

    /// Returns the first operand, if it is known in every reading.
    pub(super) fn word(&self) -> Option<&'g str> {
        let first = self.operands.first().filter(|first| first.is_certain)?;
        first.arg.known()
    }

    /// Returns whether the first operand may be `word`.
    pub(super) fn first_may_be(&self, word: &str) -> bool {
        self.at(0).any(|operand| operand.is(word))
    }

    /// Returns whether an option is present in every reading, and is not negated.
    pub(super) fn surely_has(&self, letter: Option<char>, name: &str) -> bool {
        self.flags.iter().fold(false, |has, flag| {
            let is_letter = letter.is_some_and(|letter| flag.is_certain && flag.is_letter(letter));
            (has || is_letter || flag.is_surely(name)) && !flag.may_negate(name)
        })
    }

    /// Returns whether an option may be present.
    pub(super) fn may_have(&self, letter: Option<char>, name: &str) -> bool {
        self.flags
            .iter()
            .any(|flag| flag.may_be(name) || letter.is_some_and(|letter| flag.is_letter(letter)))
    }
}

fn is_option(arg: &Arg<'_>) -> bool {
    arg.text.starts_with('-') && (arg.text.len() > 1 || !arg.is_static())
}

struct Reader<'r, 'c, 'w, 'g, 's> {
    call: &'r Call<'c, 'w, 's>,
    subcommand: &'r str,
    table: Table,
    /// Arity of the previous option.
    before: OptionArity,
    read: ParsedArgs<'g, 's>,
}

impl<'g, 's> Reader<'_, '_, '_, 'g, 's> {
    fn operand(&mut self, arg: &'g Arg<'s>, is_sure: bool) {
        let splits = may_split(self.call, arg);
        if self.read.operands.is_empty()
            && let Some(table) = arg
                .known()
                .and_then(|word| tables::after_second_word(self.subcommand, word))
        {
            self.table = table;
        }
        self.read.operands.push(Operand {
            arg,
            is_certain: is_sure,
            splits,
        });
    }

    /// Reads an argument as the value of the previous option.
    fn value(&mut self, arg: &'g Arg<'s>) -> Checked {
        if arg.is_pattern() {
            let reason = "the value of an option is a pattern, which may become several words";
            return Err(Denial::by(Rule::R21, arg.span, reason).instead("put it into quotes"));
        }
        self.brings_no_option(arg)?;
        if may_split(self.call, arg) {
            // All words except the first are operands.
            self.operand(arg, false);
        }
        if let Some(flag) = self.read.flags.last_mut() {
            flag.value = Some(arg.clone());
        }
        Ok(())
    }

    fn brings_no_option(&self, value: &Arg<'_>) -> Checked {
        if adds_no_option(self.call, value) {
            Ok(())
        } else {
            Err(self.call.deny_dynamic(value).instead("put it into quotes"))
        }
    }

    fn option(&mut self, arg: &'g Arg<'s>, is_sure: bool) -> Checked {
        match arg.text.strip_prefix("--") {
            Some(_) => self.long(arg, is_sure),
            None => self.letters(arg, is_sure),
        }
    }

    fn long(&mut self, arg: &'g Arg<'s>, is_sure: bool) -> Checked {
        let text = arg.text.get(2..).unwrap_or_default();
        let equals = text.find('=');
        let written = &text[..equals.unwrap_or(text.len())];
        let known = 2 + written.len();
        let is_whole = equals.is_some() || arg.is_static();
        if !is_whole || arg.globs.iter().any(|at| *at < known) {
            return Err(self.call.deny_dynamic(arg));
        }
        let (matched, takes) = spelling::long(self.table, written);
        let value = match equals {
            Some(_) => {
                let value = arg.without_first(known + 1);
                self.brings_no_option(&value)?;
                Some(value)
            }
            None => {
                self.before = match takes {
                    OptionArity::Value | OptionArity::Unknown => takes,
                    OptionArity::Nothing | OptionArity::Attached => OptionArity::Nothing,
                };
                None
            }
        };
        self.read.flags.push(Flag {
            name: Name::Long { written, matched },
            value,
            arg,
            is_certain: is_sure,
        });
        Ok(())
    }

    /// Reads a cluster of short options.
    fn letters(&mut self, arg: &'g Arg<'s>, is_sure: bool) -> Checked {
        for (at, letter) in arg.text.char_indices().skip(1) {
            if arg.globs.contains(&at) {
                return Err(self.call.deny_dynamic(arg));
            }
            let after = at + letter.len_utf8();
            let is_last = after == arg.text.len() && arg.is_static();
            let takes = spelling::letter(self.table, letter);
            let has_value = takes != OptionArity::Nothing && !is_last;
            let value = has_value.then(|| arg.without_first(after));
            if let Some(value) = &value {
                self.brings_no_option(value)?;
            }
            self.read.flags.push(Flag {
                name: Name::Letter(letter),
                value,
                arg,
                is_certain: is_sure,
            });
            if has_value {
                return Ok(());
            }
            if takes == OptionArity::Value {
                self.before = takes;
            }
        }
        // More letters may follow.
        if arg.is_static() {
            Ok(())
        } else {
            Err(self.call.deny_dynamic(arg))
        }
    }
}
