//! Accessibility tests of the page: light and dark mode, mobile and desktop, and screen readers.

use std::fs;
use std::path::PathBuf;

use autonoe_testkit::program::chromium::Scheme;
use base64::Engine as _;
use serde_json::{Value, json};

use crate::browser::fixture::Fixture;
use crate::browser::sample::fleet;

/// Returns the directory for screenshots, for manual inspection.
fn pictures() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_is_readable_on_mobile_and_desktop_in_light_and_dark_mode() {
    let mut fixture = Fixture::start(fleet()).await;
    let url = fixture.server.url();
    let browser = &mut fixture.browser;
    for (scheme, background) in [
        (Scheme::Light, "rgb(246, 245, 242)"),
        (Scheme::Dark, "rgb(18, 20, 23)"),
    ] {
        for width in [360, 1280] {
            let case = format!("{scheme:?}-{width}").to_lowercase();
            browser.set_window(width, scheme);
            browser.open(&url);
            browser.wait_for_text("live");

            assert_eq!(
                browser.overflowing(".scroll *"),
                json!([]),
                "{case}: wider than its window"
            );
            assert_eq!(
                browser.pale_texts("script, dialog"),
                json!([]),
                "{case}: hard to read"
            );
            let found = browser.evaluate("getComputedStyle(document.body).backgroundColor");
            assert_eq!(found, background, "{case}");
            assert_eq!(browser.logged_errors(), Vec::<&Value>::new(), "{case}");
            let answer = browser.call("Page.captureScreenshot", &json!({"format": "png"}));
            let encoded = answer["data"].as_str().expect("it is text");
            let picture = base64::engine::general_purpose::STANDARD.decode(encoded);
            fs::write(
                pictures().join(format!("{case}.png")),
                picture.expect("base64"),
            )
            .expect("writable");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_screen_reader_has_headings_rows_bars_and_names_of_buttons() {
    let mut fixture = Fixture::seen(fleet()).await;

    let nodes = fixture.browser.accessibility_tree();

    let of = |role: &str| -> Vec<&str> {
        let named = nodes.iter().filter(|(found, _)| found == role);
        named.map(|(_, name)| name.as_str()).collect()
    };
    assert_eq!(of("heading"), ["Build the shop", "Members", "Alerts"]);
    assert_eq!(of("table"), ["Members"]);
    assert_eq!(of("columnheader")[..2], ["Member", "Status"]);
    assert!(of("rowheader")[0].starts_with("api"), "{nodes:?}");
    assert_eq!(of("progressbar")[0], "Progress of api");
    assert!(of("button").contains(&"Pause api"), "{nodes:?}");
    assert!(!of("button").contains(&"Kill docs"), "{nodes:?}");
    assert_eq!(of("main").len(), 1);
    assert_eq!(of("status").len(), 1);
    assert_eq!(of("searchbox"), ["Show only"]);
}
