//! Tests of the settings from variables and the section.

use serde_json::json;

use super::*;

fn settings(
    variables: &[(&str, &str)],
    section: serde_json::Value,
) -> Result<Option<Settings>, String> {
    let environment = variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let section = serde_json::from_value(section).expect("a section");
    Settings::resolve(SettingsSource {
        environment: &environment,
        section: &section,
        folder: Path::new("/srv/project"),
    })
}

/// Returns the endpoints of traces and metrics.
fn endpoints(variables: &[(&str, &str)], section: serde_json::Value) -> [Option<String>; 2] {
    match settings(variables, section).expect("they can be done") {
        None => [None, None],
        Some(settings) => {
            [settings.traces, settings.metrics].map(|receiver| Some(receiver?.endpoint))
        }
    }
}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const OF_TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const OF_METRICS: &str = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";

#[test]
fn variables_and_the_section_set_the_endpoints() {
    let section_endpoint = || json!({"endpoint": "http://file:1/"});
    for (variables, section, traces, metrics) in [
        (&[][..], json!({}), None, None),
        (&[(ENDPOINT, " ")], json!({}), None, None),
        (
            &[(ENDPOINT, "http://a:1")],
            json!({}),
            Some("http://a:1/v1/traces"),
            Some("http://a:1/v1/metrics"),
        ),
        (
            &[(ENDPOINT, "https://a/otlp/")],
            json!({}),
            Some("https://a/otlp/v1/traces"),
            Some("https://a/otlp/v1/metrics"),
        ),
        (
            &[(OF_TRACES, "http://t/x")],
            json!({}),
            Some("http://t/x"),
            None,
        ),
        (
            &[(OF_METRICS, "http://m/x")],
            json!({}),
            None,
            Some("http://m/x"),
        ),
        (
            &[(ENDPOINT, "http://a"), (OF_TRACES, "http://t/x")],
            json!({}),
            Some("http://t/x"),
            Some("http://a/v1/metrics"),
        ),
        (
            &[],
            section_endpoint(),
            Some("http://file:1/v1/traces"),
            Some("http://file:1/v1/metrics"),
        ),
        (
            &[(ENDPOINT, "http://a")],
            section_endpoint(),
            Some("http://a/v1/traces"),
            Some("http://a/v1/metrics"),
        ),
        (
            &[(ENDPOINT, "http://a"), ("OTEL_TRACES_EXPORTER", "none")],
            json!({}),
            None,
            Some("http://a/v1/metrics"),
        ),
        (
            &[(ENDPOINT, "http://a"), ("OTEL_METRICS_EXPORTER", "none")],
            json!({}),
            Some("http://a/v1/traces"),
            None,
        ),
        (
            &[("OTEL_TRACES_EXPORTER", "otlp")],
            json!({}),
            Some("http://localhost:4318/v1/traces"),
            None,
        ),
        (
            &[(ENDPOINT, "http://a"), ("OTEL_SDK_DISABLED", "True")],
            section_endpoint(),
            None,
            None,
        ),
        (
            &[(ENDPOINT, "http://a"), ("OTEL_SDK_DISABLED", "false")],
            json!({}),
            Some("http://a/v1/traces"),
            Some("http://a/v1/metrics"),
        ),
    ] {
        let expected = [traces, metrics].map(|endpoint| endpoint.map(str::to_owned));
        assert_eq!(endpoints(variables, section), expected, "{variables:?}");
    }
}

#[test]
fn errors_do_not_contain_the_value() {
    let here = (ENDPOINT, "http://a");
    for (variables, section, message) in [
        (&[(ENDPOINT, "secret")][..], json!({}), ENDPOINT),
        (&[(OF_TRACES, "secret:4317")], json!({}), OF_TRACES),
        (
            &[here, ("OTEL_TRACES_EXPORTER", "secret")],
            json!({}),
            "OTEL_TRACES_EXPORTER",
        ),
        (
            &[here, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            json!({}),
            "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json",
        ),
        (
            &[here, ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "secret")],
            json!({}),
            "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
        ),
        (&[], json!({"endpoint": "secret"}), "telemetry.endpoint"),
        (
            &[],
            json!({"endpoint": "http://a", "headers": {"k": {"env": "NOT_SET"}}}),
            "the variable NOT_SET is not set",
        ),
    ] {
        let error = settings(variables, section).expect_err("it cannot be done");
        assert!(
            error.contains(message) && !error.contains("secret"),
            "{error}"
        );
    }
}

#[test]
fn protocol_and_time_limit_are_those_of_the_signal_first() {
    let variables = [
        (ENDPOINT, "http://a"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "700"),
    ];
    let settings = settings(&variables, json!({}))
        .expect("they can be done")
        .expect("something");

    let [traces, metrics] =
        [settings.traces, settings.metrics].map(|it| it.expect("it is exported"));
    assert_eq!(
        (traces.protocol, traces.limit.as_millis()),
        (Protocol::HttpJson, 500)
    );
    assert_eq!(
        (metrics.protocol, metrics.limit.as_millis()),
        (Protocol::HttpBinary, 700)
    );
}

#[test]
fn the_end_of_a_run_waits_for_the_request_timeout() {
    for (variable, expected) in [
        (None, 2000),
        (Some(("OTEL_EXPORTER_OTLP_TIMEOUT", "60000")), 60_000),
        (Some(("OTEL_EXPORTER_OTLP_TIMEOUT", "500")), 2000),
        // Not a limit of all signals.
        (Some(("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "60000")), 2000),
    ] {
        let mut variables = vec![(ENDPOINT, "http://a")];
        variables.extend(variable);
        let settings = settings(&variables, json!({})).expect("they can be done");
        let limit = settings.expect("something").end_limit;
        assert_eq!(limit.as_millis(), expected, "{variable:?}");
    }
}

#[test]
fn content_is_exported_only_on_request() {
    for (variable, content, expected) in [
        (None, false, TraceContent::Omitted),
        (None, true, TraceContent::Recorded),
        (Some("true"), false, TraceContent::Recorded),
        (Some("SPAN_ONLY"), false, TraceContent::Recorded),
        (Some("false"), true, TraceContent::Omitted),
        (Some("yes please"), false, TraceContent::Omitted),
        (Some("event_only"), true, TraceContent::Omitted),
    ] {
        let mut variables = vec![(ENDPOINT, "http://a")];
        variables.extend(variable.map(|value| (CONTENT, value)));
        let settings = settings(&variables, json!({"content": content})).expect("they can be done");
        assert_eq!(
            settings.expect("something").content,
            expected,
            "{variable:?}"
        );
    }
}

#[test]
fn headers_of_the_section_are_for_its_receiver_alone() {
    let section =
        || json!({"endpoint": "http://file", "headers": {"k": {"env": "TOKEN"}, "x-team": "blue"}});
    let token = ("TOKEN", "a-secret");

    let from_section = settings(&[token], section())
        .expect("they can be done")
        .expect("something");
    let from_variable = settings(&[token, (ENDPOINT, "http://a")], section())
        .expect("they can be done")
        .expect("something");

    assert!(
        !format!("{from_section:?}").contains("a-secret"),
        "{from_section:?}"
    );
    let headers = from_section.traces.expect("it is exported").headers;
    assert_eq!(
        (headers["k"].as_str(), headers["x-team"].as_str()),
        ("a-secret", "blue")
    );
    assert!(
        from_variable
            .traces
            .expect("it is exported")
            .headers
            .is_empty()
    );
}

#[test]
fn variables_take_precedence_for_the_service_name() {
    for (variable, section, expected) in [
        (None, json!({}), Some("autonoe")),
        (None, json!({"serviceName": "builds"}), Some("builds")),
        (
            Some(("OTEL_SERVICE_NAME", "x")),
            json!({"serviceName": "builds"}),
            None,
        ),
        (
            Some(("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=x")),
            json!({}),
            None,
        ),
        (
            Some(("OTEL_RESOURCE_ATTRIBUTES", "team=blue")),
            json!({}),
            Some("autonoe"),
        ),
    ] {
        let mut variables = vec![(ENDPOINT, "http://a")];
        variables.extend(variable);
        let settings = settings(&variables, section).expect("they can be done");
        let name = settings.expect("something").service_name;
        assert_eq!(name.as_deref(), expected, "{variable:?}");
    }
}

#[test]
fn content_disabled_by_environment_gives_no_warning() {
    let section = || json!({"endpoint": "http://file:1", "content": true});
    for (variables, count) in [
        (&[][..], 1),
        (&[(CONTENT, "false")], 0),
        (&[("OTEL_TRACES_EXPORTER", "none")], 0),
    ] {
        let settings = settings(variables, section()).expect("they can be done");
        assert_eq!(
            settings.map(|it| it.warnings.len()),
            Some(count),
            "{variables:?}"
        );
    }
}
