//! Finds the first operand after options: a subcommand, a script or a command to start.

use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::commands::tools::one_word::is_one_word;
use crate::option_table::{OptionArity, OptionTable};
use crate::syntax::Part;
use crate::{Denial, Rule};

/// Flags that all tools share.
const COMMON_FLAGS: OptionTable = options!("qvhV", "quiet verbose silent offline help version");

/// Maximum number of readings of one command line.
const MOST_READINGS: usize = 4;

impl OptionTable {
    /// Returns what the option `text` of a tool takes. An unknown option may be a flag or take the
    /// next argument.
    fn takes(&self, text: &str, next: Option<&Arg<'_>>) -> OptionArity {
        if self.find(text) == Some(OptionArity::Value) {
            return OptionArity::Value;
        }
        if text.contains('=') || text.starts_with('+') {
            return OptionArity::Nothing;
        }
        // npm accepts a value for a flag: `--silent false`.
        let is_switched = next.is_some_and(|next| {
            matches!(next.text.as_ref(), "true" | "false" | "null" | "undefined")
        });
        let tables = [self, &COMMON_FLAGS];
        let is_flag = |takes: Option<OptionArity>| takes == Some(OptionArity::Nothing);
        let is_cluster = !text.starts_with("--")
            && text[1..]
                .chars()
                .all(|letter| tables.iter().any(|table| is_flag(table.letter(letter))));
        let is_flag = tables.iter().any(|table| is_flag(table.find(text)))
            || is_cluster
            || text.starts_with("--no-");
        if is_flag && !is_switched {
            OptionArity::Nothing
        } else {
            OptionArity::Unknown
        }
    }

    /// Returns every position in `args`, starting at `from`, that may be the first operand; `None`
    /// is a reading without an operand.
    pub(in crate::check::commands) fn first_operands(
        &self,
        call: &Call<'_, '_, '_>,
        args: &[Arg<'_>],
        from: usize,
    ) -> Result<Vec<Option<usize>>, Denial> {
        let mut found = Vec::new();
        // Whether a reading starts an argument here, at the next one, or at the one after it.
        let (mut here, mut next, mut behind) = (true, false, false);
        for at in from..args.len() {
            if here {
                match self.step(call, args, at)? {
                    Step::Operand(place) => found.push(place),
                    Step::Option(OptionArity::Nothing | OptionArity::Attached) => next = true,
                    Step::Option(OptionArity::Value) => behind = true,
                    Step::Option(OptionArity::Unknown) => (next, behind) = (true, true),
                }
            }
            (here, next, behind) = (next, behind, false);
        }
        if here || next {
            found.push(None);
        }
        if found.len() > MOST_READINGS {
            Err(call
                .deny(Rule::R54, "too many options may or may not take a value")
                .instead("write them as --option=value"))
        } else {
            Ok(found)
        }
    }

    fn step(&self, call: &Call<'_, '_, '_>, args: &[Arg<'_>], at: usize) -> Result<Step, Denial> {
        let (arg, next) = (&args[at], args.get(at + 1));
        let text = arg.text.as_ref();
        if arg.is("--") {
            return Ok(Step::Operand(next.map(|_| at + 1)));
        }
        let is_option = text.len() > 1 && text.starts_with(['-', '+']);
        if !is_option {
            return Ok(Step::Operand(Some(at)));
        }
        let is_known = arg.is_static() || (text.contains('=') && is_one_word(arg));
        if !is_known {
            return Err(call.deny_dynamic(arg));
        }
        let takes = self.takes(text, next);
        if let (OptionArity::Value, Some(value)) = (&takes, next)
            && !is_one_word(value)
            && !is_path_pattern(value)
            && !is_loop_word(call, value)
        {
            return Err(call.deny_dynamic(value));
        }
        Ok(Step::Option(takes))
    }
}

/// Returns whether `value` only expands to paths with a slash, none of which is a subcommand.
fn is_path_pattern(value: &Arg<'_>) -> bool {
    let glob = value.globs.first().copied().unwrap_or(0);
    value.is_static() && value.text[..glob].contains('/')
}

/// Returns whether `value` is the variable of a `for` over plain words, so that it is one argument
/// without quotes too.
fn is_loop_word(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> bool {
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.starts_with('-')
            && !text.contains([' ', '\t', '\n', '*', '?', '['])
    };
    let [part @ Part::Parameter(_)] = &value.parts[..] else {
        return false;
    };
    let words = call.context.scope.loop_words(part, value.span.start());
    words.is_some_and(|words| {
        let mut words = words.into_iter().map(|word| word.static_text());
        words.all(|text| text.as_deref().is_some_and(is_plain))
    })
}

enum Step {
    Operand(Option<usize>),
    Option(OptionArity),
}
