//! `Chromium`, a real browser without network access, driven over the DevTools protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for anything, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A headless browser. Dropping it ends the process.
pub(crate) struct Chromium {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    sent: u64,
    /// Messages that arrived during the wait for another one.
    buffered: Vec<Value>,
    _profile: TempDir,
}

/// Returns Debian's Chromium. Panics if it is not installed.
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
        // The protocol uses the descriptors 3 and 4, which only a shell can set up without unsafe
        // code. Name resolution is disabled, so that nothing can be fetched.
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
            buffered: Vec::new(),
            _profile: profile,
        }
    }

    /// Opens an empty page.
    pub(crate) fn page(&mut self) -> Page<'_> {
        let target = self.call(None, "Target.createTarget", &json!({"url": "about:blank"}));
        let target = &target["targetId"];
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", &attach);
        let session = attached["sessionId"]
            .as_str()
            .expect("it has a name")
            .to_owned();
        let mut page = Page {
            browser: self,
            session,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
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
        if let Some(place) = self.buffered.iter().position(&is_it) {
            return self.buffered.remove(place);
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
            self.buffered.push(message);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser shuts down gracefully when its input is closed.
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

/// Preferred colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

impl Page<'_> {
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    /// Opens a file in a window of this width, with this colour scheme.
    pub(crate) fn open(&mut self, file: &Path, width: u32, scheme: Scheme) {
        let scheme = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let window =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &window);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &media);
        self.browser.buffered.clear();
        let url = format!("file://{}", file.display());
        let opened = self.call("Page.navigate", &json!({ "url": url }));
        assert!(opened["errorText"].is_null(), "{opened}");
        self.browser
            .wait_for(|message| message["method"] == "Page.loadEventFired");
    }

    /// Evaluates a JavaScript expression.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Returns the URLs that the page has requested since it was opened.
    pub(crate) fn requests(&self) -> Vec<String> {
        let buffered = self.browser.buffered.iter();
        buffered
            .filter(|message| message["method"] == "Network.requestWillBeSent")
            .map(|message| {
                message["params"]["request"]["url"]
                    .as_str()
                    .unwrap_or("?")
                    .to_owned()
            })
            .collect()
    }

    /// Returns the errors that the browser has logged since the page was opened.
    pub(crate) fn logged_errors(&self) -> Vec<&Value> {
        const COMPLAINTS: [&str; 3] = [
            "Log.entryAdded",
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
        ];
        let buffered = self.browser.buffered.iter();
        buffered
            .filter(|message| COMPLAINTS.iter().any(|name| message["method"] == *name))
            .collect()
    }

    /// Returns a screenshot of the page as PNG, limited in height.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        let size = self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
        let height = size["height"].as_f64().unwrap_or_default().min(3000.0);
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1});
        let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        bytes(&self.call("Page.captureScreenshot", &params)["data"])
    }

    /// Returns the printed page as PDF.
    pub(crate) fn pdf(&mut self) -> Vec<u8> {
        bytes(&self.call("Page.printToPDF", &json!({"printBackground": true}))["data"])
    }

    /// Returns the accessibility tree: roles and names in the order of the page.
    pub(crate) fn accessibility_tree(&mut self) -> Vec<(String, String)> {
        let tree = self.call("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let visible = nodes.iter().filter(|node| node["ignored"] == false);
        visible
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
