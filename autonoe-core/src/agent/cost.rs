//! [`CostUsd`], an exact amount of money, and [`CostTotal`], a sum with unknown parts.

use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const PICOS_PER_DOLLAR: u64 = 1_000_000_000_000;

/// An amount of US dollars, exact to the pico-dollar.
///
/// Sums are exact and saturate at about 18 million dollars. The JSON form is a decimal string
/// (`"0.0123"`), because most readers parse JSON numbers as floats. Numbers are accepted as input,
/// too.
///
/// ```
/// use autonoe_core::CostUsd;
///
/// let cost: CostUsd = "0.1".parse()?;
/// assert_eq!((cost + "0.2".parse()?).to_string(), "$0.30");
/// # Ok::<(), autonoe_core::agent::InvalidCost>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CostUsd {
    picos: u64,
}

impl CostUsd {
    /// No cost. An unknown cost is `None`, not zero.
    pub const ZERO: Self = Self { picos: 0 };

    /// Creates an amount of whole cents.
    pub const fn from_cents(cents: u64) -> Self {
        Self {
            picos: cents.saturating_mul(PICOS_PER_DOLLAR / 100),
        }
    }

    /// Creates an amount of pico-dollars (10^-12 dollars).
    pub const fn from_picos(picos: u64) -> Self {
        Self { picos }
    }

    /// Creates an amount from the shortest decimal that represents `dollars`.
    ///
    /// # Errors
    ///
    /// The number is negative, not finite or too large.
    pub fn from_f64(dollars: f64) -> Result<Self, InvalidCost> {
        // `Display` of a float never uses an exponent and returns the shortest text that parses to
        // the same float: 0.1 becomes "0.1". The addition removes the sign of a negative zero,
        // which is a valid amount.
        (dollars + 0.0).to_string().parse()
    }

    /// Returns the amount in pico-dollars.
    pub const fn picos(self) -> u64 {
        self.picos
    }

    /// Returns the closest float of the amount in dollars. For metrics only; sums use the exact
    /// amount.
    pub fn to_f64(self) -> f64 {
        self.picos as f64 / PICOS_PER_DOLLAR as f64
    }

    /// Subtracts, saturating at zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self {
            picos: self.picos.saturating_sub(other.picos),
        }
    }

    fn decimal(self, min_decimals: usize) -> String {
        let whole = self.picos / PICOS_PER_DOLLAR;
        let fraction = format!("{:012}", self.picos % PICOS_PER_DOLLAR);
        let length = fraction.trim_end_matches('0').len().max(min_decimals);
        match length {
            0 => whole.to_string(),
            _ => format!("{whole}.{}", &fraction[..length]),
        }
    }
}

impl Add for CostUsd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            picos: self.picos.saturating_add(other.picos),
        }
    }
}

impl Sum for CostUsd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for CostUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("${}", self.decimal(2)))
    }
}

impl FromStr for CostUsd {
    type Err = InvalidCost;

    /// Parses a plain decimal. Digits beyond the pico-dollar are rounded to the nearest.
    fn from_str(text: &str) -> Result<Self, InvalidCost> {
        let invalid = || InvalidCost {
            text: text.to_owned(),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return Err(invalid());
        }
        let whole: u64 = if whole.is_empty() {
            0
        } else {
            whole.parse().map_err(|_| invalid())?
        };
        let padded: String = fraction
            .chars()
            .chain("000000000000".chars())
            .take(12)
            .collect();
        let fraction_picos: u64 = padded.parse().map_err(|_| invalid())?;
        let rounds_up = fraction
            .as_bytes()
            .get(12)
            .is_some_and(|digit| *digit >= b'5');
        whole
            .checked_mul(PICOS_PER_DOLLAR)
            .and_then(|picos| picos.checked_add(fraction_picos))
            .and_then(|picos| picos.checked_add(u64::from(rounds_up)))
            .map(Self::from_picos)
            .ok_or_else(invalid)
    }
}

impl Serialize for CostUsd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.decimal(0))
    }
}

impl<'de> Deserialize<'de> for CostUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Amount {
            Text(String),
            Number(f64),
        }
        match Amount::deserialize(deserializer)? {
            Amount::Text(text) => text.parse(),
            Amount::Number(number) => Self::from_f64(number),
        }
        .map_err(serde::de::Error::custom)
    }
}

/// Error: the text or number is not an amount of dollars.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an amount of dollars, such as 0.25")]
pub struct InvalidCost {
    text: String,
}

/// Total cost of several sessions: the known sum, and the number of unknown parts.
///
/// Unknown is not zero: a total with unknown parts is a lower bound and is displayed as one.
///
/// ```
/// use autonoe_core::agent::CostTotal;
/// use autonoe_core::CostUsd;
///
/// let mut total = CostTotal::default();
/// total.add(Some(CostUsd::from_cents(150)));
/// assert_eq!(total.to_string(), "$1.50");
/// total.add(None);
/// assert_eq!(total.to_string(), "at least $1.50 (1 cost unknown)");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostTotal {
    /// Sum of the known parts.
    pub known_usd: CostUsd,
    /// Number of unknown parts.
    pub unknown_parts: u32,
}

impl CostTotal {
    /// Creates a total of one known part.
    pub fn known(cost: CostUsd) -> Self {
        Self {
            known_usd: cost,
            unknown_parts: 0,
        }
    }

    /// Creates a total of one part with a known lower bound.
    pub fn at_least(cost: CostUsd) -> Self {
        Self {
            known_usd: cost,
            unknown_parts: 1,
        }
    }

    /// Creates a total of one unknown part.
    pub fn unknown() -> Self {
        Self::at_least(CostUsd::ZERO)
    }

    /// Adds one part; `None` is unknown.
    pub fn add(&mut self, part: Option<CostUsd>) {
        match part {
            Some(cost) => self.known_usd = self.known_usd + cost,
            None => self.unknown_parts = self.unknown_parts.saturating_add(1),
        }
    }

    /// Adds the parts of `other`.
    pub fn merge(&mut self, other: Self) {
        self.known_usd = self.known_usd + other.known_usd;
        self.unknown_parts = self.unknown_parts.saturating_add(other.unknown_parts);
    }

    /// Returns the total, or `None` if a part is unknown.
    pub fn exact(&self) -> Option<CostUsd> {
        (self.unknown_parts == 0).then_some(self.known_usd)
    }
}

impl fmt::Display for CostTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unknown_parts {
            0 => write!(f, "{}", self.known_usd),
            1 => write!(f, "at least {} (1 cost unknown)", self.known_usd),
            unknown => write!(f, "at least {} ({unknown} costs unknown)", self.known_usd),
        }
    }
}

/// The serialised form is a string; the deserialiser accepts numbers, too.
impl JsonSchema for CostUsd {
    fn schema_name() -> Cow<'static, str> {
        "CostUsd".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            json_schema!({
                "description": "An amount of US dollars as a decimal string, exact to the \
                    pico-dollar: `\"0.0123\"`.",
                "type": "string",
                "pattern": r"^[0-9]+(\.[0-9]{1,12})?$",
            })
        } else {
            json_schema!({
                "description": "An amount of US dollars: a decimal string (`\"0.0123\"`), which is \
                    how it is written and exact to the pico-dollar, or a number. At most about \
                    18 million.",
                "type": ["string", "number"],
                "pattern": r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)$",
                "minimum": 0,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn decimals_are_parsed_and_displayed_exactly() {
        for (text, picos, displayed) in [
            ("0", 0, "$0.00"),
            ("1", 1_000_000_000_000, "$1.00"),
            (".5", 500_000_000_000, "$0.50"),
            ("0.0123456", 12_345_600_000, "$0.0123456"),
            ("0.000000000001", 1, "$0.000000000001"),
            ("0.0000000000005", 1, "$0.000000000001"),
            ("12.3", 12_300_000_000_000, "$12.30"),
        ] {
            let cost: CostUsd = text.parse().expect(text);

            assert_eq!(
                (cost.picos(), cost.to_string().as_str()),
                (picos, displayed)
            );
        }
    }

    #[test]
    fn invalid_amounts_are_rejected() {
        for text in ["", ".", "-1", "1e3", "1.2.3", "NaN", "99999999999", " 1"] {
            assert!(text.parse::<CostUsd>().is_err(), "{text:?} was accepted");
        }
        assert!(CostUsd::from_f64(f64::NAN).is_err());
        assert!(CostUsd::from_f64(-0.1).is_err());
        assert_eq!(CostUsd::from_f64(-0.0), Ok(CostUsd::ZERO));
    }

    #[test]
    fn ten_thousand_tenths_are_a_thousand() {
        let tenth = CostUsd::from_f64(0.1).expect("an amount");

        let total: CostUsd = std::iter::repeat_n(tenth, 10_000).sum();

        assert_eq!(total, CostUsd::from_cents(100_000));
    }

    #[test]
    fn json_is_a_decimal_string_and_numbers_are_understood() {
        let cost = CostUsd::from_cents(125);

        assert_eq!(
            serde_json::to_string(&cost).expect("serialises"),
            "\"1.25\""
        );
        assert_eq!(
            serde_json::from_str::<CostUsd>("1.25").expect("a number"),
            cost
        );
        assert_eq!(
            serde_json::from_str::<CostUsd>("\"1.25\"").expect("a text"),
            cost
        );
    }

    /// Returns whether the schema with these settings accepts the value.
    fn is_valid(settings: SchemaSettings, value: &Value) -> bool {
        let schema = settings.into_generator().into_root_schema_for::<CostUsd>();
        jsonschema::is_valid(schema.as_value(), value)
    }

    fn read() -> SchemaSettings {
        SchemaSettings::draft2020_12().for_deserialize()
    }

    fn written() -> SchemaSettings {
        SchemaSettings::draft2020_12().for_serialize()
    }

    /// Returns whether the schema accepts the value, and whether the deserialiser does.
    fn accepted(value: &Value) -> (bool, bool) {
        let is_read = serde_json::from_value::<CostUsd>(value.clone()).is_ok();
        (is_valid(read(), value), is_read)
    }

    #[test]
    fn the_schema_accepts_exactly_the_deserialisable_values() {
        for (value, is_amount) in [
            (json!("1.25"), true),
            (json!("1"), true),
            (json!("1."), true),
            (json!(".5"), true),
            (json!(1.25), true),
            (json!(3), true),
            (json!(0), true),
            (json!(-0.0), true),
            (json!(-1), false),
            (json!("-1"), false),
            (json!("$1"), false),
            (json!("1e3"), false),
            (json!("."), false),
            (json!(""), false),
            (json!(" 1"), false),
            (json!("1\n"), false),
            (json!(null), false),
            (json!(true), false),
            (json!([1]), false),
        ] {
            assert_eq!(accepted(&value), (is_amount, is_amount), "{value}");
        }
    }

    proptest! {
        #[test]
        fn schema_and_deserialiser_agree_about_texts_and_numbers(
            text in "[-+$ .0-9e]{0,6}", number in -1.0..18_000_000.0,
        ) {
            for value in [Value::from(text), Value::from(number)] {
                let (is_valid, is_read) = accepted(&value);
                prop_assert_eq!(is_valid, is_read, "{}", value);
            }
        }

        #[test]
        fn serialised_amounts_match_the_schema(picos: u64) {
            let value = json!(CostUsd::from_picos(picos));

            prop_assert!(is_valid(written(), &value));
            prop_assert_eq!(accepted(&value), (true, true));
        }
    }

    #[test]
    fn the_output_schema_accepts_no_number() {
        assert!(!is_valid(written(), &json!(1.25)));
    }
}
