//! Parser of JUnit XML test reports.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Number of tests per outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

/// Parses a report and counts its test cases. The totals in the report are only used if they
/// contain more failures.
///
/// # Errors
///
/// The text is not a JUnit report, or is incomplete.
pub(super) fn read(text: &str) -> Result<TestCounts, String> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let mut counts = TestCounts::default();
    let (mut failures, mut open) = (0, Vec::<Element>::new());
    let mut is_report = false;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match event {
            Event::Start(start) => {
                is_report |= begin(&start, &mut open, &mut failures, is_report)?;
            }
            Event::Empty(start) => {
                is_report |= begin(&start, &mut open, &mut failures, is_report)?;
                end(&mut open, &mut counts);
            }
            Event::End(_) => end(&mut open, &mut counts),
            Event::DocType(_) => {
                return Err("it has a document type declaration, which is not supported".to_owned());
            }
            Event::Eof if !open.is_empty() => return Err("it is incomplete".to_owned()),
            Event::Eof if !is_report => return Err("it has no test suite".to_owned()),
            Event::Eof => {
                counts.failed = counts.failed.max(failures);
                return Ok(counts);
            }
            _ => {}
        }
    }
}

/// An open element.
enum Element {
    /// A test case, with its outcome so far.
    Test(Fate),
    Other,
}

#[derive(Clone, Copy)]
enum Fate {
    Passed,
    Skipped,
    Failed,
}

/// Opens an element, and returns whether it is a test suite.
fn begin(
    start: &BytesStart<'_>,
    open: &mut Vec<Element>,
    reported_failures: &mut u64,
    is_report: bool,
) -> Result<bool, String> {
    let name = start.local_name();
    let name = name.as_ref();
    let is_suite = matches!(name, "testsuites" | "testsuite");
    if !is_report && !is_suite {
        return Err(format!(
            "its root element is <{name}>, not <testsuites> or <testsuite>"
        ));
    }
    if is_suite {
        // The total of a suite is included in that of the outer suite, so take the maximum.
        let failures = count(start, "failures")?;
        *reported_failures =
            (*reported_failures).max(failures.saturating_add(count(start, "errors")?));
    }
    if let Some(Element::Test(fate)) = open.last_mut() {
        match name {
            "failure" | "error" => *fate = Fate::Failed,
            "skipped" if !matches!(fate, Fate::Failed) => *fate = Fate::Skipped,
            _ => {}
        }
    }
    open.push(match name {
        "testcase" => Element::Test(Fate::Passed),
        _ => Element::Other,
    });
    Ok(is_suite)
}

fn end(open: &mut Vec<Element>, counts: &mut TestCounts) {
    if let Some(Element::Test(fate)) = open.pop() {
        match fate {
            Fate::Passed => counts.passed += 1,
            Fate::Skipped => counts.skipped += 1,
            Fate::Failed => counts.failed += 1,
        }
    }
}

/// Returns a count attribute of an element; 0 if it is missing.
fn count(start: &BytesStart<'_>, name: &str) -> Result<u64, String> {
    let attribute = start.try_get_attribute(name);
    let Some(attribute) = attribute.map_err(|error| error.to_string())? else {
        return Ok(0);
    };
    let value = attribute.value.trim();
    match value {
        "" => Ok(0),
        value => value
            .parse()
            .map_err(|_| format!("its attribute {name} is {value:?}, which is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_cases_are_counted_by_outcome() {
        // As written by cargo-nextest, pytest and Surefire.
        let nextest = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0" uuid="u" time="0.1">
    <testsuite name="crate" tests="3" disabled="0" errors="0" failures="1">
        <testcase name="a" classname="crate" time="0.01"></testcase>
        <testcase name="flaky" classname="crate"><flakyFailure type="t" message="m"/></testcase>
        <testcase name="b" classname="crate">
            <failure type="test failure" message="x &lt; y">boom</failure>
            <system-out>ok. 5 passed</system-out>
        </testcase>
    </testsuite>
</testsuites>"#;
        let pytest = r#"<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="1" failures="0" skipped="1" tests="3"><testcase classname="t" name="a" time="0.1" /><testcase classname="t" name="b"><skipped type="pytest.skip" message="no">t.py:3</skipped></testcase><testcase classname="" name="c"><error message="collection failure">x</error></testcase></testsuite></testsuites>"#;
        let surefire = r#"<testsuite xmlns:xsi="x" name="T" tests="2" errors="0" skipped="0" failures="0"><properties><property name="error" value="1"/></properties><testcase name="a"/><testcase name="b"><system-err>failure</system-err></testcase></testsuite>"#;
        for (text, passed, failed, skipped) in [
            (nextest, 2, 1, 0),
            (pytest, 1, 1, 1),
            (surefire, 2, 0, 0),
            ("<testsuites/>", 0, 0, 0),
            ("\u{feff}<testsuite><testcase/></testsuite>", 1, 0, 0),
            // An agent can write any number.
            (
                r#"<testsuite failures="18446744073709551615" errors="1"><testcase/></testsuite>"#,
                1,
                u64::MAX,
                0,
            ),
            // The total contains a failure that has no test case.
            (
                r#"<testsuite failures="2"><testcase/></testsuite>"#,
                1,
                2,
                0,
            ),
            (
                "<testsuite><testcase><skipped/><failure/></testcase></testsuite>",
                0,
                1,
                0,
            ),
        ] {
            let expected = TestCounts {
                passed,
                failed,
                skipped,
            };
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_incomplete_report_is_an_error() {
        for text in [
            "",
            "5 passed",
            "<html><testsuite/></html>",
            "<testsuite><testcase/>",
            "<testsuites><testsuite></testsuites>",
            "<testsuite failures='many'/>",
            "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>",
            "{\"type\": \"suite\"}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
