//! The limits of a subscription, as headers tell them.

use hyper::HeaderMap;
use jiff::Timestamp;

use crate::model_server::headers::scripted_header;
use crate::model_server::{Message, Refusal};

/// What all headers about the limits of a subscription begin with.
const PREFIX: &str = "anthropic-ratelimit-unified";

/// The limits of a subscription, as the headers of an answer tell them.
///
/// A program that uses an API key does not look at them.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::{
///     Claim, LimitWindow, Message, RateLimits, Refusal, Turn,
/// };
///
/// let resets_at = "2026-11-15T14:00:00Z".parse()?;
/// let spent = Turn::from(Refusal::quota(&RateLimits::rejected(Claim::FiveHour, resets_at)));
/// let nearly = Message::new()
///     .says("I go on.")
///     .with_rate_limits(&RateLimits::warning(LimitWindow::FiveHour, 0.92, resets_at));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RateLimits {
    status: &'static str,
    claim: Option<Claim>,
    resets_at: Option<Timestamp>,
    figures: Vec<Figure>,
}

/// Which limit it is that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// The limit of five hours: `five_hour`.
    FiveHour,
    /// The limit of a week: `seven_day`.
    SevenDay,
    /// The limit of a week for Opus: `seven_day_opus`.
    SevenDayOpus,
    /// The limit of a week for Sonnet: `seven_day_sonnet`.
    SevenDaySonnet,
    /// What is paid beyond the subscription: `overage`.
    Overage,
    /// Any other word.
    Other(String),
}

/// A limit about which headers tell figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitWindow {
    /// The limit of five hours.
    FiveHour,
    /// The limit of a week.
    SevenDay,
    /// What is paid beyond the subscription.
    Overage,
}

#[derive(Clone, Debug, PartialEq)]
struct Figure {
    window: LimitWindow,
    utilization: f64,
    resets_at: Timestamp,
    status: &'static str,
    surpassed: Option<f64>,
}

impl RateLimits {
    /// All is well; nothing is said about a single limit.
    pub const fn allowed() -> Self {
        Self::with_status("allowed", None, None)
    }

    /// One limit is used to `utilization` (1 is all of it), which is beyond nine tenths of it.
    pub fn warning(window: LimitWindow, utilization: f64, resets_at: Timestamp) -> Self {
        let figure = Figure {
            window,
            utilization,
            resets_at,
            status: "allowed_warning",
            surpassed: Some(0.9),
        };
        Self {
            figures: vec![figure],
            ..Self::with_status("allowed_warning", Some(window.claim()), Some(resets_at))
        }
    }

    /// One limit is spent until `resets_at`.
    pub const fn rejected(claim: Claim, resets_at: Timestamp) -> Self {
        Self::with_status("rejected", Some(claim), Some(resets_at))
    }

    /// Requests are rejected, and no limit of the subscription is to blame.
    pub const fn rejected_without_claim(resets_at: Timestamp) -> Self {
        Self::with_status("rejected", None, Some(resets_at))
    }

    /// Does not tell when the limit is reset.
    #[must_use]
    pub fn without_reset(mut self) -> Self {
        self.resets_at = None;
        self
    }

    /// Tells how far one more limit is used.
    #[must_use]
    pub fn with_window(
        mut self,
        window: LimitWindow,
        utilization: f64,
        resets_at: Timestamp,
    ) -> Self {
        let status = match utilization {
            spent if spent >= 1.0 => "rejected",
            _ => "allowed",
        };
        self.figures.push(Figure {
            window,
            utilization,
            resets_at,
            status,
            surpassed: None,
        });
        self
    }

    /// Returns the headers.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut tell = |name: &str, value: &str| {
            let (name, value) = scripted_header(&format!("{PREFIX}-{name}"), value);
            headers.insert(name, value);
        };
        tell("status", self.status);
        if let Some(claim) = &self.claim {
            tell("representative-claim", claim.as_str());
        }
        if let Some(resets_at) = self.resets_at {
            tell("reset", &resets_at.as_second().to_string());
        }
        for figure in &self.figures {
            let window = figure.window.as_str();
            let resets_at = figure.resets_at.as_second().to_string();
            tell(&format!("{window}-status"), figure.status);
            tell(&format!("{window}-reset"), &resets_at);
            tell(
                &format!("{window}-utilization"),
                &figure.utilization.to_string(),
            );
            if let Some(threshold) = figure.surpassed {
                tell(
                    &format!("{window}-surpassed-threshold"),
                    &threshold.to_string(),
                );
            }
        }
        headers
    }

    const fn with_status(
        status: &'static str,
        claim: Option<Claim>,
        resets_at: Option<Timestamp>,
    ) -> Self {
        Self {
            status,
            claim,
            resets_at,
            figures: Vec::new(),
        }
    }
}

impl Message {
    /// Tells how much of a subscription is used, as Anthropic tells it.
    #[must_use]
    pub fn with_rate_limits(mut self, limits: &RateLimits) -> Self {
        self.headers.extend(limits.headers());
        self
    }
}

impl Refusal {
    /// 429: a limit of the subscription is spent, as the headers of Anthropic tell.
    pub fn quota(limits: &RateLimits) -> Self {
        let mut refusal = Self::rate_limited();
        refusal.headers.extend(limits.headers());
        refusal
    }
}

impl Claim {
    /// Returns the word of the API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::FiveHour => "five_hour",
            Self::SevenDay => "seven_day",
            Self::SevenDayOpus => "seven_day_opus",
            Self::SevenDaySonnet => "seven_day_sonnet",
            Self::Overage => "overage",
            Self::Other(word) => word,
        }
    }
}

impl LimitWindow {
    /// Returns the word in the names of its headers.
    fn as_str(self) -> &'static str {
        match self {
            Self::FiveHour => "5h",
            Self::SevenDay => "7d",
            Self::Overage => "overage",
        }
    }

    fn claim(self) -> Claim {
        match self {
            Self::FiveHour => Claim::FiveHour,
            Self::SevenDay => Claim::SevenDay,
            Self::Overage => Claim::Overage,
        }
    }
}
