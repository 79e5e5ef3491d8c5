//! A real browser, driven over its DevTools protocol, that cannot reach anything.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser without a window. It ends when this is dropped.
pub(crate) struct Chromium {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    sent: u64,
    /// What the browser told while something else was waited for.
    told: Vec<Value>,
    _profile: TempDir,
}

/// Returns Debian's Chromium, or fails the test if it is not installed.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|dir| dir.join("chromium"));
    places.find(|path| path.is_file()).expect(
        "there is no chromium on the search path, and this test looks at a page with it: \
         run `cargo xtask clis` as root, or install Debian's package chromium",
    )
}

impl Chromium {
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("a directory can be made");
        // The protocol is spoken on the descriptors 3 and 4, which only a shell can hand over
        // without unsafe code. Nothing is resolved, so that nothing can be fetched.
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"])
            .arg(program())
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-sync",
            ])
            .args([
                "--disable-component-update",
                "--disable-extensions",
                "--hide-scrollbars",
            ])
            .args(["--disable-dev-shm-usage", "--force-color-profile=srgb"])
            .args([
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("it can be started");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for message in output.split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).expect("messages are JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: process.stdin.take(),
            process,
            messages,
            sent: 0,
            told: Vec::new(),
            _profile: profile,
        }
    }

    /// Opens an empty page.
    pub(crate) fn page(&mut self) -> Page<'_> {
        let target = self.ask(None, "Target.createTarget", &json!({"url": "about:blank"}));
        let target = &target["targetId"];
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.ask(None, "Target.attachToTarget", &attach);
        let session = attached["sessionId"]
            .as_str()
            .expect("it has a name")
            .to_owned();
        let mut page = Page {
            browser: self,
            session,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.ask(&format!("{domain}.enable"), &json!({}));
        }
        page
    }

    fn ask(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let mut request = json!({"id": self.sent, "method": method, "params": params});
        if let Some(session) = session {
            request["sessionId"] = session.into();
        }
        let input = self.input.as_mut().expect("it is open until the end");
        let sent = input.write_all(format!("{request}\0").as_bytes());
        sent.and_then(|()| input.flush())
            .expect("the browser listens");
        let id = self.sent;
        let answer = self.wait_for(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.told.iter().position(&is_it) {
            return self.told.remove(place);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self
                .messages
                .recv_timeout(left)
                .expect("the browser answers");
            if is_it(&message) {
                return message;
            }
            self.told.push(message);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It ends in order when nobody talks to it any more.
        drop(self.input.take());
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A page in the browser.
pub(crate) struct Page<'b> {
    browser: &'b mut Chromium,
    session: String,
}

/// Which colours a person prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

impl Page<'_> {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.browser.ask(Some(&self.session), method, params)
    }

    /// Opens a file as a person with a window of this width and these colours.
    pub(crate) fn open(&mut self, file: &Path, width: u32, scheme: Scheme) {
        let scheme = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let window =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &window);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.ask("Emulation.setEmulatedMedia", &media);
        self.browser.told.clear();
        let url = format!("file://{}", file.display());
        let opened = self.ask("Page.navigate", &json!({ "url": url }));
        assert!(opened["errorText"].is_null(), "{opened}");
        self.browser
            .wait_for(|message| message["method"] == "Page.loadEventFired");
    }

    /// Returns what an expression of JavaScript comes to.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Returns the addresses that were asked for since the page was opened.
    pub(crate) fn requests(&self) -> Vec<String> {
        let told = self.browser.told.iter();
        told.filter(|message| message["method"] == "Network.requestWillBeSent")
            .map(|message| {
                message["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or("?")
                    .to_owned()
            })
            .collect()
    }

    /// Returns what the browser complained of since the page was opened.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        const COMPLAINTS: [&str; 3] = [
            "Log.entryAdded",
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
        ];
        let told = self.browser.told.iter();
        told.filter(|message| COMPLAINTS.iter().any(|name| message["method"] == *name))
            .collect()
    }

    /// Returns a picture of the page as PNG, down to where it gets very long.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let size = self.ask("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
        let height = size["height"].as_f64().unwrap_or_default().min(3000.0);
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1});
        let asked = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        bytes(&self.ask("Page.captureScreenshot", &asked)["data"])
    }

    /// Returns the page as it is printed, as PDF.
    pub(crate) fn printed(&mut self) -> Vec<u8> {
        bytes(&self.ask("Page.printToPDF", &json!({"printBackground": true}))["data"])
    }

    /// Returns what a screen reader has: roles and names in the order of the page.
    pub(crate) fn accessible(&mut self) -> Vec<(String, String)> {
        let tree = self.ask("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let heard = nodes.iter().filter(|node| node["ignored"] == false);
        heard
            .map(|node| (text(&node["role"]), text(&node["name"])))
            .collect()
    }
}

fn bytes(data: &Value) -> Vec<u8> {
    use base64::Engine as _;
    let data = data.as_str().expect("it is text");
    base64::engine::general_purpose::STANDARD
        .decode(data)
        .expect("it is base64")
}
