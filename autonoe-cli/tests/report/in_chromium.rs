//! Tests of the report in a real browser.

use std::fs;
use std::path::PathBuf;

use autonoe_testkit::SessionScript;
use autonoe_testkit::program::chromium::{Chromium, Scheme};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::report::sample::{Sample, create, deliverable, sets};
use crate::report::scale::large;

/// Window widths: a phone and a desktop.
const WIDTHS: [u32; 2] = [360, 1280];

/// Returns the folder for screenshots, which people can inspect.
fn pictures() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

/// Checks a page in all windows and colour schemes.
fn assert_renders(name: &str, sample: &Sample, texts: &[&str]) {
    let url = format!("file://{}", sample.page_file().display());
    let mut page = Chromium::start();
    for (scheme, width) in [Scheme::Light, Scheme::Dark]
        .into_iter()
        .flat_map(|scheme| WIDTHS.map(|width| (scheme, width)))
    {
        let case = format!("{name}-{scheme:?}-{width}").to_lowercase();

        page.set_window(width, scheme);
        page.open(&url);

        assert_eq!(page.requests(), [&url], "{case}");
        assert_eq!(page.logged_errors(), Vec::<&Value>::new(), "{case}");
        let visible_text = page.evaluate("document.body.innerText");
        let visible_text = visible_text.as_str().expect("it is text");
        for text in texts {
            assert!(
                visible_text.contains(text),
                "{case} does not show {text:?}: {visible_text}"
            );
        }
        assert_eq!(
            page.overflowing(".scroll *, .skip, .visually-hidden"),
            json!([]),
            "{case}: wider than its window"
        );
        assert_eq!(page.pale_texts("svg"), json!([]), "{case}: hard to read");
        let dark = page.evaluate("getComputedStyle(document.body).backgroundColor");
        let expected = match scheme {
            Scheme::Light => "rgb(246, 245, 242)",
            Scheme::Dark => "rgb(18, 20, 23)",
        };
        assert_eq!(dark, expected, "{case}");
        fs::write(
            pictures().join(format!("{case}.png")),
            screenshot(&mut page),
        )
        .expect("writable");
    }
}

/// Opens the page of a report in a window of this width.
fn open(sample: &Sample, width: u32, scheme: Scheme) -> Chromium {
    let mut browser = Chromium::start();
    browser.set_window(width, scheme);
    browser.open(&format!("file://{}", sample.page_file().display()));
    browser
}

/// Calls a method of the browser that returns a file.
fn file(browser: &mut Chromium, method: &str, params: &Value) -> Vec<u8> {
    let data = &browser.call(method, params)["data"];
    let data = data.as_str().expect("it is text");
    let bytes = base64::engine::general_purpose::STANDARD.decode(data);
    bytes.expect("it is base64")
}

/// Returns a screenshot of the page as PNG, limited in height.
fn screenshot(browser: &mut Chromium) -> Vec<u8> {
    let size = browser.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
    let height = size["height"].as_f64().unwrap_or_default().min(3000.0);
    let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1});
    let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
    file(browser, "Page.captureScreenshot", &params)
}

#[tokio::test(start_paused = true)]
async fn report_is_readable_on_mobile_and_desktop_in_light_and_dark_mode() {
    let sample = Sample::shop().await;

    assert_renders(
        "shop",
        &sample,
        &[
            "shop",
            "Done",
            "All achievable deliverables passed.",
            "7 of 8",
            "$13.48",
            "Time line",
            "Cost over time",
            "Deliverables over time",
            "Failed: API Error: 529 overloaded",
            "Command 'sudo' is not in the allowlist",
            "sudo apt-get install postgresql",
            "Customers sign up and sign in with an e-mail address",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_large_run_is_readable_too() {
    let sample = large().await;

    assert_renders(
        "large",
        &sample,
        &["1000 of 1000", "200", "more characters"],
    );
}

#[tokio::test(start_paused = true)]
async fn runs_of_any_size_are_readable() {
    for count in [1, 30, 500] {
        let sample = Sample::new();
        let ids: Vec<String> = (1..=count).map(|n| format!("DL-{n:03}")).collect();
        let description = "Customers sign up and sign in with an e-mail address";
        let planned: Vec<Value> = ids.iter().map(|id| deliverable(id, description)).collect();
        let passes = SessionScript::new("passes all");
        let passes = ids
            .iter()
            .fold(passes, |script, id| sets(script, id, "passed"));
        sample
            .run(vec![create(&planned).ends(), passes.ends()])
            .await;

        let counts = format!("{count} of {count}");
        let last = format!("DL-{count:03}");
        assert_renders(&format!("{count}-deliverables"), &sample, &[&counts, &last]);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_that_an_agent_wrote_runs_in_the_browser() {
    let sample = Sample::new();
    let evil = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>";
    let plan = create(&[deliverable("DL-001", evil)]).ends();
    let passes = SessionScript::new("passes");
    sample
        .run(vec![plan, sets(passes, "DL-001", "passed").ends()])
        .await;

    assert_renders("evil", &sample, &[evil]);

    let mut page = open(&sample, 1280, Scheme::Light);
    assert_eq!(page.evaluate("document.title"), "shop: done · Autonoe");
    assert_eq!(
        page.evaluate("document.querySelectorAll('img, script').length"),
        0
    );
}

#[tokio::test(start_paused = true)]
async fn a_screen_reader_has_headings_tables_and_words_for_the_figures() {
    let sample = Sample::shop().await;
    let mut page = open(&sample, 1280, Scheme::Light);

    let nodes = page.accessibility_tree();

    let names_of = |role: &str| -> Vec<&str> {
        let named = nodes.iter().filter(|(found, _)| found == role);
        named.map(|(_, name)| name.as_str()).collect()
    };
    assert_eq!(
        names_of("heading"),
        [
            "shop",
            "Key figures",
            "Time line",
            "Cost over time",
            "Deliverables over time",
            "Sessions",
            "Deliverables",
            "Denied calls",
            "Calls that you can allow",
        ]
    );
    assert_eq!(names_of("main").len(), 1);
    assert_eq!(names_of("table").len(), 4);
    assert!(names_of("columnheader").contains(&"Cost"), "{nodes:?}");
    assert!(names_of("rowheader").contains(&"DL-001"), "{nodes:?}");
    let figures = [names_of("img"), names_of("image")].concat();
    assert_eq!(figures.len(), 3, "{nodes:?}");
    assert!(figures.iter().all(|name| name.len() > 30), "{figures:?}");
}

#[tokio::test(start_paused = true)]
async fn report_prints_on_at_most_five_pages() {
    let sample = Sample::shop().await;
    let mut page = open(&sample, 1280, Scheme::Dark);

    let params = json!({"printBackground": true});
    let printed = file(&mut page, "Page.printToPDF", &params);

    assert!(printed.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&printed);
    let pages = text.matches("/Type /Page\n").count();
    assert!((1..=5).contains(&pages), "{pages} pages");
    fs::write(pictures().join("shop.pdf"), printed).expect("writable");
}
