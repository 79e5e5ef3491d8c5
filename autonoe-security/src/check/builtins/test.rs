//! `test` and `[`: conditions.

use super::names;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::numeric;
use crate::syntax::Part;
use crate::{Denial, Rule};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let args = match (call.name, call.args) {
        ("[", [args @ .., _closing]) => args,
        (_, args) => args,
    };
    for (at, arg) in args.iter().enumerate() {
        let next = args.get(at + 1);
        if arg.is("-v")
            && let Some(name) = next
        {
            names::check(name)?;
        }
        // File names may be operators.
        if arg.may_match("-v") {
            let reason = format!("a pattern in {} may become an operator", call.name);
            return Err(Denial::by(Rule::R12, arg.span, reason).instead("put ./ in front of it"));
        }
        if !arg.is_static() {
            check_dynamic(call, arg, next)?;
        }
    }
    Ok(())
}

/// Denies unknown text that could become `-v`, whose operand is evaluated, unless its position is
/// clear.
fn check_dynamic(call: &Call<'_, '_, '_>, arg: &Arg<'_>, next: Option<&Arg<'_>>) -> Checked {
    if call.splits_into_more(arg) {
        let reason = format!("an expansion in {} may become several arguments", call.name);
        return Err(Denial::by(Rule::R12, arg.span, reason).instead("use [[ ]] instead"));
    }
    let unsafe_part = arg
        .parts
        .iter()
        .find(|part| is_expansion(part) && !numeric::is_safe_part(call.context.scope, part));
    if unsafe_part.is_some() {
        let reason = format!("an expansion in {} is not quoted", call.name);
        return Err(Denial::by(Rule::R12, arg.span, reason).instead("put it in double quotes"));
    }
    let is_clear = next.is_none_or(|next| next.known().is_some_and(is_binary_operator));
    if is_clear {
        Ok(())
    } else {
        let reason = format!(
            "an argument of {} is unknown and could be an operator",
            call.name
        );
        Err(Denial::by(Rule::R12, arg.span, reason).instead("use [[ ]] instead"))
    }
}

/// Returns whether a part is an expansion outside of quotes.
fn is_expansion(part: &Part<'_>) -> bool {
    matches!(
        part,
        Part::Parameter(_) | Part::CommandSubstitution(_) | Part::Arithmetic(_)
    )
}

fn is_binary_operator(text: &str) -> bool {
    words!("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o").contains(&text)
}
