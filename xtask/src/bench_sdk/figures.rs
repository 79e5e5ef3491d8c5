//! Figures of one measured turn of a client.

use serde_json::{Value, json};

/// Amount of work for each client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) messages: u64,
    pub(super) hooks: u64,
    pub(super) many_hooks: u64,
    pub(super) calls: u64,
}

impl Expected {
    /// The turn of the slowest client takes about ten seconds.
    pub(super) const PLAN: Self = Self {
        messages: 100_000,
        hooks: 10_000,
        many_hooks: 10_000,
        calls: 2_000,
    };
}

/// Output of a client and measurements of the fake.
#[derive(Clone, Debug)]
pub(super) struct Figures(Value);

impl Figures {
    /// Takes the line of a client and the report of the fake.
    pub(super) fn read(printed: &str, report: &str) -> Result<Self, String> {
        let line = printed.lines().last().unwrap_or_default();
        let host: Value =
            serde_json::from_str(line).map_err(|error| format!("printed {line:?}: {error}"))?;
        let fake: Value = serde_json::from_str(report)
            .map_err(|error| format!("the fake reported {report:?}: {error}"))?;
        Ok(Self(json!({"host": host, "fake": fake})))
    }

    /// Checks that nothing was left out.
    pub(super) fn check(&self, expected: &Expected) -> Result<(), String> {
        for (place, wanted) in [
            ("/host/messages", expected.messages),
            ("/host/hooks", expected.hooks + expected.many_hooks),
            ("/host/calls", expected.calls),
        ] {
            let seen = self.0.pointer(place).and_then(Value::as_u64);
            if seen != Some(wanted) {
                return Err(format!("{place} is {seen:?} and should be {wanted}"));
            }
        }
        Ok(())
    }

    /// Returns the number at a place, for example `/host/cpu_s`.
    pub(super) fn number(&self, place: &str) -> Option<f64> {
        self.0.pointer(place)?.as_f64()
    }

    /// Returns the version of the client.
    pub(super) fn version(&self) -> &str {
        self.0["host"]["version"].as_str().unwrap_or("unknown")
    }
}

/// Names what the clients ran on.
pub(super) fn runtimes(measured: &[Vec<Figures>]) -> String {
    let runtimes = measured.iter().filter_map(|figures| {
        let runtime = &figures.first()?.0["host"]["runtime"];
        runtime.as_str().map(str::to_owned)
    });
    runtimes.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(messages: u64) -> Figures {
        let host = json!({"messages": messages, "hooks": 5, "calls": 7, "version": "1.2"});
        let printed = format!("a remark\n{host}\n");
        Figures::read(&printed, r#"{"calls":{"per_s":8.5}}"#).expect("they can be read")
    }

    #[test]
    fn the_last_line_of_a_client_and_the_report_are_read() {
        let figures = figures(100);

        assert_eq!(figures.number("/fake/calls/per_s"), Some(8.5));
        assert_eq!(figures.version(), "1.2");
        assert_eq!(figures.number("/fake/other"), None);
    }

    #[test]
    fn a_client_that_has_not_seen_everything_is_found_out() {
        let expected = Expected {
            messages: 100,
            hooks: 2,
            many_hooks: 3,
            calls: 7,
        };

        assert_eq!(figures(100).check(&expected), Ok(()));
        assert_eq!(
            figures(99).check(&expected),
            Err("/host/messages is Some(99) and should be 100".into())
        );
    }

    #[test]
    fn invalid_figures_are_an_error() {
        let error = Figures::read("Traceback", "{}").expect_err("no JSON");

        assert!(error.starts_with("printed \"Traceback\""), "{error}");
    }
}
