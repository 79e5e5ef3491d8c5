//! [`TraceContext`], the W3C trace context that a process inherits and propagates.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{SpanContext, SpanId, TraceId};

/// W3C trace context of a process.
///
/// A program started by another one may find it in the environment variables `TRACEPARENT` and
/// `TRACESTATE`. The library does not read the environment; the embedder passes the context in.
/// Its JSON has the same two values, in lower case.
///
/// ```
/// use autonoe_core::event::TraceContext;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let context = TraceContext::parse(text, Some("vendor=1"))?;
///
/// assert_eq!(context.traceparent(), text);
/// assert!(context.is_sampled());
/// # Ok::<(), autonoe_core::event::InvalidTraceContext>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "TraceHeaders", into = "TraceHeaders")]
#[schemars(with = "TraceHeaders")]
pub struct TraceContext {
    trace: TraceId,
    span: SpanId,
    flags: u8,
    state: Option<String>,
}

/// The values of the two headers.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TraceContext")]
struct TraceHeaders {
    traceparent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tracestate: Option<String>,
}

impl TryFrom<TraceHeaders> for TraceContext {
    type Error = InvalidTraceContext;

    fn try_from(headers: TraceHeaders) -> Result<Self, InvalidTraceContext> {
        Self::parse(&headers.traceparent, headers.tracestate.as_deref())
    }
}

impl From<TraceContext> for TraceHeaders {
    fn from(context: TraceContext) -> Self {
        Self {
            traceparent: context.traceparent(),
            tracestate: context.state,
        }
    }
}

/// Trace flag of a sampled (recorded) trace.
const SAMPLED: u8 = 1;

/// Maximum length of a `tracestate` in bytes.
const LONGEST_STATE: usize = 512;

impl TraceContext {
    /// Parses the values of `traceparent` and `tracestate`.
    ///
    /// An unusable `tracestate` is dropped, as the standard requires.
    ///
    /// # Errors
    ///
    /// `traceparent` is malformed.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Result<Self, InvalidTraceContext> {
        let invalid = || InvalidTraceContext {
            text: traceparent.to_owned(),
        };
        let mut parts = traceparent.trim().splitn(5, '-');
        let mut next = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            part.bytes().all(is_hex).then_some(part)
        };
        let version = next(2).ok_or_else(invalid)?;
        let trace = next(32).ok_or_else(invalid)?;
        let span = next(16).ok_or_else(invalid)?;
        let flags = next(2).ok_or_else(invalid)?;
        let more = parts.next().is_some();
        // Later versions may add fields after the flags; version 00 may not.
        if version == "ff" || (version == "00" && more) {
            return Err(invalid());
        }
        let trace = u128::from_str_radix(trace, 16).map_err(|_| invalid())?;
        let span = u64::from_str_radix(span, 16).map_err(|_| invalid())?;
        if trace == 0 || span == 0 {
            return Err(invalid());
        }
        let state = tracestate.map(str::trim).filter(|state| {
            let is_plain = state.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            !state.is_empty() && state.len() <= LONGEST_STATE && is_plain
        });
        Ok(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            flags: u8::from_str_radix(flags, 16).map_err(|_| invalid())?,
            state: state.map(str::to_owned),
        })
    }

    /// Returns the trace id.
    pub fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the id of the parent span for the work of this process.
    pub fn span(&self) -> SpanId {
        self.span
    }

    /// Returns whether the caller records the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED == SAMPLED
    }

    /// Returns the context to propagate from `span`, with the flags and state of this one.
    #[must_use]
    pub fn with_span(&self, span: &SpanContext) -> Self {
        Self {
            trace: span.trace,
            span: span.span,
            flags: self.flags,
            state: self.state.clone(),
        }
    }

    /// Returns the value of a `traceparent` header.
    pub fn traceparent(&self) -> String {
        // The sampled flag is the only flag that may be propagated.
        let flags = self.flags & SAMPLED;
        format!("00-{}-{}-{flags:02x}", self.trace, self.span)
    }

    /// Returns the value of a `tracestate` header, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the environment variables that propagate the context to another process.
    pub fn environment(&self) -> impl Iterator<Item = (&'static str, String)> {
        let state = self.state.clone().map(|state| ("TRACESTATE", state));
        [("TRACEPARENT", self.traceparent())]
            .into_iter()
            .chain(state)
    }
}

impl From<&SpanContext> for TraceContext {
    fn from(span: &SpanContext) -> Self {
        Self {
            trace: span.trace,
            span: span.span,
            flags: SAMPLED,
            state: None,
        }
    }
}

/// Error: the text is not a valid `traceparent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTraceContext {
    text: String,
}

impl fmt::Display for InvalidTraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a valid traceparent header", self.text)
    }
}

impl std::error::Error for InvalidTraceContext {}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[test]
    fn a_trace_parent_is_parsed_and_propagated() {
        for (text, propagated) in [
            (
                format!("00-{TRACE}-{SPAN}-01"),
                format!("00-{TRACE}-{SPAN}-01"),
            ),
            (
                format!("00-{TRACE}-{SPAN}-00"),
                format!("00-{TRACE}-{SPAN}-00"),
            ),
            (
                format!("00-{TRACE}-{SPAN}-03"),
                format!("00-{TRACE}-{SPAN}-01"),
            ),
            (
                format!("cc-{TRACE}-{SPAN}-01-more"),
                format!("00-{TRACE}-{SPAN}-01"),
            ),
            (
                format!(" 00-{TRACE}-{SPAN}-01\n"),
                format!("00-{TRACE}-{SPAN}-01"),
            ),
        ] {
            let context = TraceContext::parse(&text, None).expect("it is one");
            assert_eq!(context.traceparent(), propagated, "{text}");
        }
    }

    #[test]
    fn malformed_trace_parents_are_rejected() {
        let zeros = "0".repeat(32);
        for text in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{zeros}-{SPAN}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{SPAN}-{TRACE}-01"),
            format!("00-{TRACE}-{SPAN}-1"),
        ] {
            let error = TraceContext::parse(&text, None).expect_err("it is none");
            assert!(
                error.to_string().contains("not a valid traceparent"),
                "{text}"
            );
        }
    }

    #[test]
    fn only_a_valid_state_is_propagated() {
        let long = "a".repeat(513);
        for (state, expected) in [
            (Some("vendor=1,other=2"), Some("vendor=1,other=2")),
            (Some("  "), None),
            (Some("a=\u{1}"), None),
            (Some("ä=1"), None),
            (Some(long.as_str()), None),
            (None, None),
        ] {
            let text = format!("00-{TRACE}-{SPAN}-01");
            let context = TraceContext::parse(&text, state).expect("it is one");
            assert_eq!(context.tracestate(), expected, "{state:?}");
        }
    }

    #[test]
    fn a_child_span_keeps_flags_and_state() {
        let text = format!("00-{TRACE}-{SPAN}-00");
        let context = TraceContext::parse(&text, Some("a=1")).expect("it is one");
        let child = SpanContext::root(context.trace(), context.span()).child(SpanId(7));

        let variables: Vec<_> = context.with_span(&child).environment().collect();

        assert_eq!(
            variables,
            [
                ("TRACEPARENT", format!("00-{TRACE}-0000000000000007-00")),
                ("TRACESTATE", "a=1".to_owned()),
            ]
        );
    }

    #[test]
    fn json_has_the_values_of_the_headers() {
        let json = serde_json::json!({
            "traceparent": format!("00-{TRACE}-0000000000000007-01"),
            "tracestate": "a=1",
        });

        let context: TraceContext = serde_json::from_value(json.clone()).expect("a trace context");

        assert_eq!(serde_json::to_value(context).expect("JSON"), json);
        let invalid = serde_json::json!({"traceparent": "00-0-0-01"});
        assert!(serde_json::from_value::<TraceContext>(invalid).is_err());
    }
}
