//! Number comparison and equality with JSON Schema semantics: 1 equals 1.0, and 2.0 is an integer.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Returns whether two values are equal.
pub(super) fn json_eq(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| json_eq(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| json_eq(value, other))
            };
            one.len() == other.len() && one.iter().all(is_in)
        }
        (one, other) => one == other,
    }
}

/// Compares two numbers; `None` if one of them is not comparable.
pub(super) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

pub(super) fn is_integer(number: &Number) -> bool {
    number.as_i128().is_some() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Returns whether `number` is a multiple divisor `divisor`, which must be positive.
pub(super) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (number.as_i128(), divisor.as_i128()) {
        return number.checked_rem(divisor) == Some(0);
    }
    let (Some(number), Some(divisor)) = (number.as_f64(), divisor.as_f64()) else {
        return false;
    };
    let times = number / divisor;
    // In binary, 0.3 is not exactly three times 0.1, but it must count as a multiple.
    (times - times.round()).abs() < 1e-9
}
