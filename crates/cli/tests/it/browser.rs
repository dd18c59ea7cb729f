//! A browser for tests: headless Chromium, controlled over the DevTools protocol.
//!
//! The protocol runs over two pipes (`--remote-debugging-pipe`: JSON messages terminated by a zero byte), so that
//! neither a port nor a WebSocket crate is needed. A shell passes the pipes as descriptors 3 and 4.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The timeout of tests, long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    child: Child,
    /// The command pipe; the browser ends when it is closed.
    orders: Option<ChildStdin>,
    answers: Receiver<Value>,
    events: VecDeque<Value>,
    session: Value,
    next: u64,
    profile: TempDir,
}

/// The path of Chromium, if it is installed.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let found = std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    named.into_iter().chain(found).find(|path| path.is_file())
}

impl Browser {
    /// Starts the browser; `None`, with a message, if there is no Chromium.
    pub fn start() -> Option<Browser> {
        let Some(program) = program() else {
            tidings_testing::skip("Chromium not found; install it, or set CHROMIUM to its path");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // Tests may run as root in a container, where the sandbox is not available.
        let script = "exec \"$0\" --headless --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage \
                      --no-first-run --disable-background-networking --disable-component-update --disable-sync \
                      --user-data-dir=\"$1\" about:blank 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let (sender, answers) = channel();
        let mut said = BufReader::new(child.stdout.take().expect("it was piped"));
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while said.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).expect("the browser speaks JSON")).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let orders = child.stdin.take();
        let events = VecDeque::new();
        let mut browser = Browser { child, orders, answers, events, session: Value::Null, next: 0, profile };
        let downloads = json!({ "behavior": "allow", "downloadPath": browser.downloads(), "eventsEnabled": true });
        browser.ask("Browser.setDownloadBehavior", downloads);
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        browser.session =
            browser.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }))["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser.screen(1280, 900);
        Some(browser)
    }

    /// The folder of downloads.
    pub fn downloads(&self) -> PathBuf {
        self.profile.path().join("saved")
    }

    /// Sends a command and waits for its response; events in between are kept.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut order = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_null() {
            order["sessionId"] = self.session.clone();
        }
        let orders = self.orders.as_mut().expect("it is open until the end");
        orders.write_all(format!("{order}\0").as_bytes()).expect("the browser listens");
        let until = Instant::now() + PATIENCE;
        loop {
            match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(answer) if answer["id"] == self.next => {
                    assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                    return answer["result"].clone();
                }
                Ok(event) => self.events.push_back(event),
                Err(RecvTimeoutError::Timeout) => panic!("no response to {method} from the browser"),
                Err(RecvTimeoutError::Disconnected) => panic!("the browser ended at {method}"),
            }
        }
    }

    /// Waits until a download is complete. Its file exists before that, empty or in part.
    #[track_caller]
    pub fn await_download(&mut self) {
        let state = |event: &Value| match event["method"].as_str() {
            Some("Browser.downloadProgress") => event["params"]["state"].as_str().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(position) = self.events.iter().position(|event| state(event) == "completed") {
                self.events.remove(position);
                return;
            }
            assert!(!self.events.iter().any(|event| state(event) == "canceled"), "the browser cancelled a download");
            match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(event) => self.events.push_back(event),
                Err(error) => panic!("no download was completed: {error}"),
            }
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The text of the first element that a selector finds.
    #[track_caller]
    pub fn text(&mut self, selector: &str) -> String {
        let found = self.eval(&format!("document.querySelector({})?.textContent", json!(selector)));
        found.as_str().unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let began = Instant::now();
        while self.eval(expression) != true {
            let shown = || "the page did not reach the expected state";
            assert!(began.elapsed() < PATIENCE, "{}: {expression}: {}", shown(), self.text("main"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the view is complete.
    #[track_caller]
    pub fn settle(&mut self) {
        self.until(
            "document.readyState === 'complete' && !!document.querySelector('#results') \
             && !document.querySelector('#results[aria-busy]')",
        );
    }

    /// Opens a URL and waits until it is shown.
    #[track_caller]
    pub fn open(&mut self, address: &str) {
        // Moves the pointer away, so that it does not hover over anything.
        self.ask("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": 0, "y": 0 }));
        self.ask("Page.navigate", json!({ "url": address }));
        self.settle();
    }

    /// Clicks on the first element of a selector.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const found = document.querySelector({}); if (!found) return null; \
             found.scrollIntoView({{ block: 'center' }}); const box = found.getBoundingClientRect(); \
             return {{ x: box.x + box.width / 2, y: box.y + box.height / 2 }}; }})()",
            json!(selector)
        ));
        assert!(!place.is_null(), "there is no {selector}");
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let params = json!({ "type": kind, "x": place["x"], "y": place["y"], "button": button, "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses keys by their names.
    #[track_caller]
    pub fn press(&mut self, keys: &[&str]) {
        for &key in keys {
            let (code, text) = match key {
                "Enter" => (13, "\r"),
                "Tab" => (9, ""),
                "Escape" => (27, ""),
                "ArrowLeft" => (37, ""),
                "ArrowUp" => (38, ""),
                "ArrowRight" => (39, ""),
                "ArrowDown" => (40, ""),
                "Home" => (36, ""),
                "End" => (35, ""),
                other => (u32::from(other.as_bytes()[0].to_ascii_uppercase()), other),
            };
            let params = |kind: &str| json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.ask("Input.dispatchKeyEvent", params(if text.is_empty() { "rawKeyDown" } else { "keyDown" }));
            self.ask(
                "Input.dispatchKeyEvent",
                json!({ "type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code }),
            );
        }
    }

    /// Types text at the cursor.
    pub fn write(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Sets the size of the screen.
    pub fn screen(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the preferred colour scheme: `light` or `dark`.
    pub fn colours(&mut self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", features);
    }

    /// Writes a screenshot to a file.
    pub fn picture(&mut self, path: &Path) {
        use base64::Engine as _;
        let answer = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = base64::engine::general_purpose::STANDARD.decode(answer["data"].as_str().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// All errors since the last call: of scripts, the console and the content security policy, and requests to other
    /// hosts than `own`. Expected ones are listed in `but`.
    pub fn complaints(&mut self, own: &str, but: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        for event in std::mem::take(&mut self.events) {
            let params = &event["params"];
            let said = match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => params["exceptionDetails"].to_string(),
                "Runtime.consoleAPICalled" if params["type"] == "error" || params["type"] == "warning" => {
                    params["args"].to_string()
                }
                "Log.entryAdded" if params["entry"]["level"] == "error" => params["entry"].to_string(),
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    // The browser draws its own calendars from data: URLs, and the page uses blob: URLs.
                    let is_own = [own, "blob:", "data:", "about:blank"].iter().any(|start| url.starts_with(start));
                    if is_own {
                        continue;
                    }
                    format!("request to {url}")
                }
                _ => continue,
            };
            if !but.iter().any(|known| said.contains(known)) {
                found.push(said);
            }
        }
        found
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser ends when its command pipe is closed; otherwise it is killed.
        self.orders = None;
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
