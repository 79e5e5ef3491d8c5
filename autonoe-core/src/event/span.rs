//! [`SpanContext`], the position of an event in the span tree of a run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Trace id: 128 bits, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TraceId(pub u128);

/// Span id within a trace: 64 bits, written as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct SpanId(pub u64);

/// Position of an event in the span tree of a run. Sizes and spelling follow W3C Trace Context.
///
/// The run is the root, its sessions are children of the run, and tool calls are children of their
/// session.
///
/// ```
/// use autonoe_core::event::{SpanContext, SpanId, TraceId};
///
/// let run = SpanContext::root(TraceId(0xab), SpanId(1));
/// let session = run.child(SpanId(2));
///
/// assert_eq!(session.parent, Some(SpanId(1)));
/// assert_eq!(
///     session.traceparent(),
///     "00-000000000000000000000000000000ab-0000000000000002-01",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpanContext {
    /// Trace id; each run has one.
    #[serde(rename = "traceId")]
    pub trace: TraceId,
    /// Span id.
    #[serde(rename = "spanId")]
    pub span: SpanId,
    /// Id of the parent span; `None` for the root.
    #[serde(
        rename = "parentSpanId",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub parent: Option<SpanId>,
}

impl SpanContext {
    /// Creates the root span of a trace.
    pub fn root(trace: TraceId, span: SpanId) -> Self {
        Self {
            trace,
            span,
            parent: None,
        }
    }

    /// Creates a child of this span.
    #[must_use]
    pub fn child(&self, span: SpanId) -> Self {
        Self {
            trace: self.trace,
            span,
            parent: Some(self.span),
        }
    }

    /// Returns the value of a `traceparent` header, for propagation to other processes.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace, self.span)
    }
}

/// Error: the text is not an id with the required number of hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an ID of {digits} hexadecimal digits")]
pub struct InvalidSpanId {
    text: String,
    digits: usize,
}

fn check_hex(text: &str, digits: usize) -> Result<(), InvalidSpanId> {
    let valid = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if valid {
        Ok(())
    } else {
        Err(InvalidSpanId {
            text: text.to_owned(),
            digits,
        })
    }
}

macro_rules! hexadecimal {
    ($id:ident, $number:ty, $digits:literal) => {
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{:0", $digits, "x}"), self.0)
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($id), "({})"), self)
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> Self {
                id.to_string()
            }
        }

        impl TryFrom<String> for $id {
            type Error = InvalidSpanId;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                check_hex(&text, $digits)?;
                match <$number>::from_str_radix(&text, 16) {
                    Ok(number) => Ok(Self(number)),
                    Err(_) => Err(InvalidSpanId {
                        text,
                        digits: $digits,
                    }),
                }
            }
        }
    };
}

hexadecimal!(TraceId, u128, 32);
hexadecimal!(SpanId, u64, 16);

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: framework/models/span-context-trace-id-128
    #[test]
    fn ids_have_the_sizes_of_w3c_and_survive_json() {
        let span = SpanContext::root(TraceId(7), SpanId(9)).child(SpanId(u64::MAX));

        let json = serde_json::to_value(span).expect("it serialises");

        assert_eq!(json["traceId"].as_str().map(str::len), Some(32));
        assert_eq!(json["spanId"], "ffffffffffffffff");
        assert_eq!(
            serde_json::from_value::<SpanContext>(json).expect("it parses"),
            span
        );
    }

    #[test]
    fn an_id_of_the_wrong_size_is_refused() {
        for text in [
            "\"\"",
            "\"12\"",
            "\"+000000000000001\"",
            "\"zzzzzzzzzzzzzzzz\"",
        ] {
            assert!(
                serde_json::from_str::<SpanId>(text).is_err(),
                "{text} was accepted"
            );
        }
    }
}
