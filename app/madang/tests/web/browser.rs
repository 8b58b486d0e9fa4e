//! A browser as a person uses it: look, type, press, and wait for what should appear.

use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::driver::Driver;

/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(40);

/// What kind of browser it is.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Whether scripts run.
    pub(crate) script: bool,
    /// A phone's width, or none for a desk.
    pub(crate) phone_px: Option<u32>,
    /// How high its window is.
    pub(crate) height_px: u32,
    /// The language it asks for.
    pub(crate) language: &'static str,
}

impl Default for Kind {
    fn default() -> Self {
        Self { script: true, phone_px: None, height_px: 900, language: "en" }
    }
}

/// A browser.
pub(crate) struct Browser {
    /// What speaks to it.
    pub(crate) client: Client,
    base: String,
}

impl Browser {
    /// Opens one for the site at `address`.
    pub(crate) async fn open(driver: &Driver, address: &str, kind: Kind) -> Self {
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let capabilities = capabilities(kind).as_object().cloned().expect("an object");
        let client = builder.capabilities(capabilities).connect(&driver.address).await.expect("a browser opens");
        if kind.phone_px.is_none() {
            client.set_window_size(1280, kind.height_px).await.unwrap();
        }
        Self { client, base: format!("http://{address}") }
    }

    /// Goes to a path.
    pub(crate) async fn go(&self, path: &str) -> &Self {
        self.client.goto(&format!("{}{path}", self.base)).await.unwrap();
        self
    }

    /// The path it is at.
    pub(crate) async fn path(&self) -> String {
        let address = self.client.current_url().await.unwrap().to_string();
        address.strip_prefix(&self.base).unwrap_or(&address).to_owned()
    }

    /// Waits until something is there, and gives it.
    pub(crate) async fn see(&self, css: &str) -> Element {
        let found = self.client.wait().at_most(PATIENCE).every(LOOK).for_element(Locator::Css(css)).await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("{css} does not appear at {}: {error}", self.path().await),
        }
    }

    /// Waits until something says `text`.
    pub(crate) async fn see_text(&self, css: &str, text: &str) -> &Self {
        let found = self.eventually(|| async {
            let elements = self.client.find_all(Locator::Css(css)).await.unwrap_or_default();
            for element in elements {
                if element.text().await.is_ok_and(|shown| shown.contains(text)) {
                    return true;
                }
            }
            false
        });
        assert!(found.await, "{css} does not say {text:?} at {}", self.path().await);
        self
    }

    /// Waits until nothing matches any more.
    pub(crate) async fn see_no(&self, css: &str) -> &Self {
        let gone = self.eventually(|| async {
            self.client.find_all(Locator::Css(css)).await.is_ok_and(|elements| elements.is_empty())
        });
        assert!(gone.await, "{css} is still there at {}", self.path().await);
        self
    }

    /// Waits until it is at a path that contains `part`.
    pub(crate) async fn arrive(&self, part: &str) -> &Self {
        let there = self.eventually(|| async { self.path().await.contains(part) });
        assert!(there.await, "is at {} and not at {part}", self.path().await);
        self
    }

    /// Types into a field in place of what is there.
    pub(crate) async fn fill(&self, css: &str, text: &str) -> &Self {
        let field = self.see(css).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
        self
    }

    /// Presses something.
    pub(crate) async fn press(&self, css: &str) -> &Self {
        self.see(css).await.click().await.unwrap_or_else(|error| panic!("{css} cannot be pressed: {error}"));
        self
    }

    /// How many match now.
    pub(crate) async fn count(&self, css: &str) -> usize {
        self.client.find_all(Locator::Css(css)).await.unwrap().len()
    }

    /// Runs a script in the page.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Waits until a script gives true.
    pub(crate) async fn until(&self, script: &str) -> &Self {
        let done = self.eventually(|| async {
            self.client.execute(script, Vec::new()).await.is_ok_and(|value| value == Value::Bool(true))
        });
        assert!(done.await, "never true at {}: {script}", self.path().await);
        self
    }

    /// Closes it.
    pub(crate) async fn close(self) {
        self.client.close().await.unwrap();
    }

    async fn eventually<F: Future<Output = bool>>(&self, mut look: impl FnMut() -> F) -> bool {
        let waiting = async {
            while !look().await {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.is_ok()
    }
}

fn capabilities(kind: Kind) -> Value {
    let mut options = json!({
        // Nothing is asked of any other host; the machine of the tests may be root's, where a sandbox cannot be had.
        "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ],
        "prefs": { "intl.accept_languages": kind.language },
    });
    if !kind.script {
        options["prefs"]["profile.managed_default_content_settings.javascript"] = json!(2);
    }
    if let Some(width) = kind.phone_px {
        options["mobileEmulation"] =
            json!({ "deviceMetrics": { "width": width, "height": kind.height_px, "pixelRatio": 1 } });
    }
    json!({ "browserName": "chrome", "goog:chromeOptions": options, "timeouts": { "pageLoad": 60_000 } })
}
