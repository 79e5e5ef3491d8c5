//! Accessibility tests of the page: light and dark mode, mobile and desktop, and screen readers.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::browser::fixture::Fixture;
use crate::browser::sample::fleet;

/// Finds elements that overflow the window and cannot be scrolled into view.
const OVERFLOW: &str = r#"
(() => {
    const width = document.documentElement.clientWidth;
    const out = [...document.body.querySelectorAll("*")].filter(element =>
        !element.closest(".scroll *") && element.getBoundingClientRect().right > width + 0.5);
    const page = document.documentElement.scrollWidth > width ? ["the page"] : [];
    return page.concat(out.map(element => element.outerHTML.slice(0, 100)));
})()"#;

/// Finds texts with a contrast below 4.5 to 1.
const PALE: &str = r#"
(() => {
    const parse = color => color.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = element => {
        for (let e = element; e; e = e.parentElement) {
            const color = parse(getComputedStyle(e).backgroundColor);
            if (color.length < 4 || color[3] > 0) return color;
        }
        return [255, 255, 255];
    };
    const found = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = texts.nextNode());) {
        const element = node.parentElement;
        if (!node.textContent.trim() || element.closest("script, dialog")) continue;
        const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.add(`${contrast.toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
    }
    return [...found];
})()"#;

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
    for (scheme, background) in [("light", "rgb(246, 245, 242)"), ("dark", "rgb(18, 20, 23)")] {
        for width in [360, 1280] {
            let case = format!("{scheme}-{width}");
            let window =
                json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
            browser.call("Emulation.setDeviceMetricsOverride", &window);
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.call("Emulation.setEmulatedMedia", &media);
            browser.open(&url);
            browser.wait_for_text("live");

            assert_eq!(
                browser.evaluate(OVERFLOW),
                json!([]),
                "{case}: wider than its window"
            );
            assert_eq!(browser.evaluate(PALE), json!([]), "{case}: hard to read");
            let found = browser.evaluate("getComputedStyle(document.body).backgroundColor");
            assert_eq!(found, background, "{case}");
            assert_eq!(browser.complaints(), Vec::<&Value>::new(), "{case}");
            let picture = browser.call("Page.captureScreenshot", &json!({"format": "png"}));
            let picture = picture["data"].as_str().expect("it is text");
            let picture = base64::engine::general_purpose::STANDARD.decode(picture);
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

    let tree = fixture
        .browser
        .call("Accessibility.getFullAXTree", &json!({}));

    let nodes = tree["nodes"].as_array().expect("it has nodes");
    let accessible: Vec<_> = nodes
        .iter()
        .filter(|node| node["ignored"] == false)
        .map(|node| (&node["role"]["value"], &node["name"]["value"]))
        .collect();
    let of = |role: &str| -> Vec<&str> {
        let named = accessible.iter().filter(|(found, _)| *found == role);
        named
            .map(|(_, name)| name.as_str().unwrap_or_default())
            .collect()
    };
    assert_eq!(of("heading"), ["Build the shop", "Members", "Alerts"]);
    assert_eq!(of("table"), ["Members"]);
    assert_eq!(of("columnheader")[..2], ["Member", "Status"]);
    assert!(of("rowheader")[0].starts_with("api"), "{accessible:?}");
    assert_eq!(of("progressbar")[0], "Progress of api");
    assert!(of("button").contains(&"Pause api"), "{accessible:?}");
    assert!(!of("button").contains(&"Kill docs"), "{accessible:?}");
    assert_eq!(of("main").len(), 1);
    assert_eq!(of("status").len(), 1);
    assert_eq!(of("searchbox"), ["Show only"]);
}
