//! How much of a subscription is used.

use jiff::Timestamp;
use serde::Deserialize;

/// How much of a subscription is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RateLimits {
    /// The shorter window.
    pub primary: Option<Window>,
    /// The longer window.
    pub secondary: Option<Window>,
}

/// How much of one window is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Window {
    /// How much, in percent.
    pub used_percent: f64,
    /// How long it is.
    pub window_duration_mins: Option<i64>,
    /// When it begins anew, in seconds of Unix time.
    pub resets_at: Option<i64>,
}

impl RateLimits {
    /// Returns the windows that there are.
    pub fn windows(&self) -> impl Iterator<Item = &Window> {
        [&self.primary, &self.secondary].into_iter().flatten()
    }

    /// Returns when everything that is spent comes back; `None` if nothing is, or if it is not said.
    ///
    /// ```
    /// use autonoe_codex::wire::RateLimits;
    ///
    /// let limits: RateLimits = serde_json::from_str(
    ///     r#"{"primary": {"usedPercent": 100, "resetsAt": 1794776447}, "secondary": {"usedPercent": 40}}"#,
    /// )?;
    ///
    /// assert_eq!(limits.resets_at(), Some("2026-11-15T21:00:47Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resets_at(&self) -> Option<Timestamp> {
        let spent = self.windows().filter(|window| window.is_spent());
        spent.filter_map(Window::resets_at).max()
    }
}

impl Window {
    /// Tells whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.used_percent >= 100.0
    }

    /// Returns when it begins anew.
    pub fn resets_at(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.resets_at?).ok()
    }

    /// Returns its name, for example `five_hour`.
    pub fn name(&self) -> Option<String> {
        Some(match self.window_duration_mins? {
            300 => "five_hour".to_owned(),
            10_080 => "seven_day".to_owned(),
            minutes => format!("{minutes}_minutes"),
        })
    }
}
