//! What came back, and what a person would find in it.

use axum::http::{HeaderMap, StatusCode};

/// A whole answer.
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: StatusCode,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// A header as text; empty when it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Checks the status.
    #[track_caller]
    pub(crate) fn assert(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// Checks that the page says something.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> &Self {
        assert!(self.text().contains(part), "{part:?} is not in {}", self.text());
        self
    }

    /// Checks that the page does not say something.
    #[track_caller]
    pub(crate) fn is_silent_about(&self, part: &str) -> &Self {
        assert!(!self.text().contains(part), "{part:?} is in {}", self.text());
        self
    }

    /// Where a form leads after it was sent.
    #[track_caller]
    pub(crate) fn leads_to(&self) -> String {
        self.assert(303);
        self.header("location").to_owned()
    }

    /// The value of the first hidden field with this name.
    pub(crate) fn hidden(&self, name: &str) -> String {
        let text = self.text();
        let start = format!("name=\"{name}\" value=\"");
        text.split_once(&start)
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(value, _)| value.to_owned())
            .unwrap_or_default()
    }
}
