//! What a browser is told so that it can search this site from its address bar (OpenSearch 1.1).

use axum::response::Response;
use maud::{PreEscaped, html};

use crate::layout::SITE_NAME;
use crate::reply;
use crate::texts::SearchTexts;
use crate::visit::Visit;

/// Where it is.
pub(crate) const ADDRESS: &str = "/opensearch.xml";
/// What it is.
pub(crate) const MEDIA_TYPE: &str = "application/opensearchdescription+xml";

/// The description.
pub(crate) async fn description(visit: Visit) -> Response {
    let s = SearchTexts::in_language(visit.preferences.lang);
    let template = format!("{}/search?q={{searchTerms}}", visit.base);
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/" {
            ShortName { (SITE_NAME) }
            Description { (s.what) }
            InputEncoding { "UTF-8" }
            Url type="text/html" template=(template) {}
        }
    };
    reply::document(&visit, MEDIA_TYPE, markup.into_string())
}
