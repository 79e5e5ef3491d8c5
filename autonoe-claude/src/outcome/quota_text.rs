//! Parses the text of a spent quota.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// The start of every text of a spent quota. The name of the quota follows.
const START: &str = "You've hit your ";

/// Returns whether `text`, which must be that of a result, reports a spent quota.
///
/// ```
/// use autonoe_claude::outcome::is_quota_text;
///
/// assert!(is_quota_text("You've hit your weekly limit · resets Nov 18, 8am (UTC)"));
/// assert!(!is_quota_text("API Error: Server is temporarily limiting requests (not your usage limit)"));
/// ```
pub fn is_quota_text(text: &str) -> bool {
    text.trim_start()
        .replace('\u{2019}', "'")
        .starts_with(START)
}

/// Returns when the quota resets according to `text`, seen from `now`.
///
/// The time may have minutes, a date and a year, and is that of the zone in
/// brackets. Without a date it is the next such time of day; without a year the
/// next such day. `None` if the text has no time, or an unknown zone.
///
/// ```
/// use autonoe_claude::outcome::reset_time;
///
/// let now = "2026-11-15T09:14:00Z".parse()?;
///
/// let reset = reset_time("You've hit your session limit · resets 5:55pm (Asia/Kolkata)", now);
///
/// assert_eq!(reset, Some("2026-11-15T12:25:00Z".parse()?));
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn reset_time(text: &str, now: Timestamp) -> Option<Timestamp> {
    let (_, reset) = text.rsplit_once("resets ")?;
    let (when, zone) = reset.split_once('(')?;
    let (zone, _) = zone.split_once(')')?;
    let zone = TimeZoneDatabase::bundled().get(zone.trim()).ok()?;
    let mut parts = when.split(',').map(str::trim);
    let parts = (parts.next(), parts.next(), parts.next(), parts.next());
    match parts {
        (Some(time), None, ..) => next_time_of_day(time_of_day(time)?, &zone, now),
        (Some(day), Some(time), None, _) => {
            next_such_day(month_and_day(day)?, time_of_day(time)?, &zone, now)
        }
        (Some(day), Some(year), Some(time), None) => {
            let (month, day) = month_and_day(day)?;
            let date = Date::new(year.parse().ok()?, month, day).ok()?;
            at(date.to_datetime(time_of_day(time)?), &zone)
        }
        _ => None,
    }
}

/// Maximum age of a reset whose text has no day.
///
/// The texts omit the seconds, so a reset in the current minute seems to be past.
const JUST_NOW: SignedDuration = SignedDuration::from_mins(10);

fn next_time_of_day(time: Time, zone: &TimeZone, now: Timestamp) -> Option<Timestamp> {
    let today = zone.to_datetime(now).date();
    let earliest = now.checked_sub(JUST_NOW).ok()?;
    [today.yesterday().ok(), Some(today), today.tomorrow().ok()]
        .into_iter()
        .flatten()
        .filter_map(|date| at(date.to_datetime(time), zone))
        .find(|reset| *reset >= earliest)
}

fn next_such_day(
    (month, day): (i8, i8),
    time: Time,
    zone: &TimeZone,
    now: Timestamp,
) -> Option<Timestamp> {
    let year = zone.to_datetime(now).year();
    let earliest = now.checked_sub(JUST_NOW).ok()?;
    // The 29th of February may be years away.
    (year..=year.saturating_add(8))
        .filter_map(|year| Date::new(year, month, day).ok())
        .filter_map(|date| at(date.to_datetime(time), zone))
        .find(|reset| *reset >= earliest)
}

fn at(when: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_timestamp(when).ok()
}

/// Parses `4am`, `4:25am`, `12pm`.
fn time_of_day(text: &str) -> Option<Time> {
    let text = text.to_ascii_lowercase();
    let (clock, afternoon) = match text.strip_suffix("am") {
        Some(clock) => (clock, 0),
        None => (text.strip_suffix("pm")?, 12),
    };
    let (hour, minute) = clock.trim().split_once(':').unwrap_or((clock.trim(), "0"));
    let hour: i8 = hour.parse().ok()?;
    let minute: i8 = minute.parse().ok()?;
    if !(1..=12).contains(&hour) {
        return None;
    }
    Time::new(hour % 12 + afternoon, minute, 0, 0).ok()
}

/// Parses `Nov 18`.
fn month_and_day(text: &str) -> Option<(i8, i8)> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let (month, day) = text.split_once(' ')?;
    let month = month.to_ascii_lowercase();
    let number = MONTHS.iter().position(|name| month.starts_with(name))?;
    Some((i8::try_from(number + 1).ok()?, day.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reset(text: &str, now: &str) -> Option<String> {
        let now = now.parse().expect("a time");
        reset_time(text, now).map(|time| time.to_string())
    }

    /// Checks texts of the program, on a Sunday at a quarter past nine.
    #[test]
    fn the_texts_of_both_builds_have_the_reset_time_of_their_events() {
        for (text, expected) in [
            // The text of the specification.
            (
                "You've hit your limit · resets 6pm (UTC)",
                "2026-11-15T18:00:00Z",
            ),
            (
                "You've hit your session limit · resets 4am (UTC)",
                "2026-11-16T04:00:00Z",
            ),
            (
                "You've hit your 5-hour limit · resets 4:25pm (UTC)",
                "2026-11-15T16:25:00Z",
            ),
            (
                "You've hit your session limit · resets 7am (America/New_York)",
                "2026-11-15T12:00:00Z",
            ),
            (
                "You've hit your 5-hour limit · resets 5:55pm (Asia/Kolkata)",
                "2026-11-15T12:25:00Z",
            ),
            (
                "You've hit your weekly limit · resets Nov 18, 9am (UTC)",
                "2026-11-18T09:00:00Z",
            ),
            (
                "You've hit your Opus limit · resets 11am (UTC)",
                "2026-11-15T11:00:00Z",
            ),
            (
                "You've hit your Sonnet limit · resets Feb 3, 2027, 9am (UTC)",
                "2027-02-03T09:00:00Z",
            ),
            (
                "You've hit your weekly limit · resets Dec 20, 2027, 10am (Europe/Berlin)",
                "2027-12-20T09:00:00Z",
            ),
            (
                "You've hit your usage limit · resets 11am (UTC)",
                "2026-11-15T11:00:00Z",
            ),
            (
                "You've hit your session limit · resets 7am (Etc/GMT+5)",
                "2026-11-15T12:00:00Z",
            ),
            (
                "You've hit your session limit · resets 12pm (UTC)",
                "2026-11-15T12:00:00Z",
            ),
            (
                "You've hit your session limit · resets 12am (UTC)",
                "2026-11-16T00:00:00Z",
            ),
            (
                "You've hit your session limit · resets 9:15am (UTC)",
                "2026-11-15T09:15:00Z",
            ),
        ] {
            assert!(is_quota_text(text), "{text}");
            assert_eq!(
                reset(text, "2026-11-15T09:15:40Z").as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    // Shows: spec/3.4/passed-reset
    #[test]
    fn a_reset_time_is_over_for_ten_minutes_before_it_is_that_of_the_next_day() {
        for (now, expected) in [
            ("2026-11-15T09:25:00Z", "2026-11-15T09:15:00Z"),
            ("2026-11-15T09:25:01Z", "2026-11-16T09:15:00Z"),
        ] {
            let reset = reset("resets 9:15am (UTC)", now);

            assert_eq!(reset.as_deref(), Some(expected), "{now}");
        }
    }

    #[test]
    fn a_day_without_a_year_is_the_next_such_day() {
        for (text, now, expected) in [
            (
                "resets Jan 2, 8am (UTC)",
                "2026-12-30T00:00:00Z",
                "2027-01-02T08:00:00Z",
            ),
            (
                "resets Dec 31, 11pm (UTC)",
                "2026-12-30T00:00:00Z",
                "2026-12-31T23:00:00Z",
            ),
            (
                "resets Feb 29, 8am (UTC)",
                "2026-12-30T00:00:00Z",
                "2028-02-29T08:00:00Z",
            ),
        ] {
            assert_eq!(reset(text, now).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_time_that_the_clocks_skip_is_the_one_after() {
        let reset = reset("resets 2:30am (America/New_York)", "2026-03-08T05:00:00Z");

        assert_eq!(reset.as_deref(), Some("2026-03-08T07:30:00Z"));
    }

    #[test]
    fn a_text_without_a_time_has_no_reset_time() {
        for text in [
            "You've hit your session limit",
            "You've hit your session limit · resets soon (UTC)",
            "You've hit your session limit · resets 4am",
            "You've hit your session limit · resets 4am (Nowhere/City)",
            "You've hit your session limit · resets 13pm (UTC)",
            "You've hit your session limit · resets 0am (UTC)",
            "You've hit your session limit · resets 4:99am (UTC)",
            "You've hit your session limit · resets 16 (UTC)",
            "You've hit your weekly limit · resets Foo 18, 9am (UTC)",
            "You've hit your weekly limit · resets Nov 31, 2026, 9am (UTC)",
            "You've hit your weekly limit · resets Nov 3, 2026, 9am, now (UTC)",
            "resets (",
            "",
        ] {
            assert_eq!(reset(text, "2026-11-15T09:15:00Z"), None, "{text}");
        }
    }

    // Shows: spec/3.4/quota-texts-their-times, spec/3.4/quota-text
    #[test]
    fn agent_text_about_limits_is_not_quota_text() {
        for text in [
            "I think you've hit your limit",
            "API Error: Request rejected (429) · This request would exceed your account's rate limit.",
            "Credit balance is too low",
            "",
        ] {
            assert!(!is_quota_text(text), "{text}");
        }
    }
}
