//! The trace that a process is part of.

use std::fmt;

use super::{SpanContext, SpanId, TraceId};

/// The trace that a process is part of, as W3C Trace Context hands it on.
///
/// A program that was started by another one may find it in its environment, as `TRACEPARENT` and
/// `TRACESTATE`. The library does not look there: who embeds it hands it in.
///
/// ```
/// use autonoe_core::TraceContext;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let context = TraceContext::parse(text, Some("vendor=1"))?;
///
/// assert_eq!(context.traceparent(), text);
/// assert!(context.is_sampled());
/// # Ok::<(), autonoe_core::InvalidTraceContext>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: TraceId,
    span: SpanId,
    flags: u8,
    state: Option<String>,
}

/// The flag that says that the trace is recorded.
const SAMPLED: u8 = 1;

/// The most that a state is long.
const LONGEST_STATE: usize = 512;

impl TraceContext {
    /// Reads the values of `traceparent` and `tracestate`.
    ///
    /// A state that cannot be handed on is left out, as the standard wants it.
    ///
    /// # Errors
    ///
    /// `traceparent` is not one.
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
        // Later versions may say more after the flags, this one may not.
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

    /// Returns the trace.
    pub fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the span that whatever is done belongs to.
    pub fn span(&self) -> SpanId {
        self.span
    }

    /// Tells whether the trace is recorded by who handed it on.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED == SAMPLED
    }

    /// Returns the context below `span` of the same trace.
    #[must_use]
    pub fn at(&self, span: &SpanContext) -> Self {
        Self {
            trace: span.trace,
            span: span.span,
            flags: self.flags,
            state: self.state.clone(),
        }
    }

    /// Returns the value of a `traceparent` header.
    pub fn traceparent(&self) -> String {
        // Of the flags only this one may be handed on.
        let flags = self.flags & SAMPLED;
        format!("00-{}-{}-{flags:02x}", self.trace, self.span)
    }

    /// Returns the value of a `tracestate` header, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the environment variables that hand it on to another process.
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

/// A text that is no `traceparent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTraceContext {
    text: String,
}

impl fmt::Display for InvalidTraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no trace parent", self.text)
    }
}

impl std::error::Error for InvalidTraceContext {}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[test]
    fn a_trace_parent_is_read_and_handed_on() {
        for (text, handed_on) in [
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
            assert_eq!(context.traceparent(), handed_on, "{text}");
        }
    }

    #[test]
    fn what_is_no_trace_parent_is_refused() {
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
            let refused = TraceContext::parse(&text, None).expect_err("it is none");
            assert!(refused.to_string().contains("no trace parent"), "{text}");
        }
    }

    #[test]
    fn a_state_goes_along_only_if_it_can() {
        let long = "a".repeat(513);
        for (state, kept) in [
            (Some("vendor=1,other=2"), Some("vendor=1,other=2")),
            (Some("  "), None),
            (Some("a=\u{1}"), None),
            (Some("ä=1"), None),
            (Some(long.as_str()), None),
            (None, None),
        ] {
            let text = format!("00-{TRACE}-{SPAN}-01");
            let context = TraceContext::parse(&text, state).expect("it is one");
            assert_eq!(context.tracestate(), kept, "{state:?}");
        }
    }

    #[test]
    fn below_a_span_flags_and_state_stay() {
        let text = format!("00-{TRACE}-{SPAN}-00");
        let context = TraceContext::parse(&text, Some("a=1")).expect("it is one");
        let below = SpanContext::root(context.trace(), context.span()).child(SpanId(7));

        let variables: Vec<_> = context.at(&below).environment().collect();

        assert_eq!(
            variables,
            [
                ("TRACEPARENT", format!("00-{TRACE}-0000000000000007-00")),
                ("TRACESTATE", "a=1".to_owned()),
            ]
        );
    }
}
