//! Style, script, icon and picture: embedded, named by what they contain, and so kept by browsers for good.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use madang_server::gzip::{self, Effort};
use sha2::{Digest, Sha256};

/// The name never means anything else.
const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("css", "text/css; charset=utf-8", include_bytes!("../assets/madang.css")));
static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("js", "text/javascript; charset=utf-8", include_bytes!("../assets/madang.js")));
static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("svg", "image/svg+xml; charset=utf-8", include_bytes!("../assets/icon.svg")));
/// What others show beside a link to us. Those who show such pictures take no drawing, hence pixels.
static PICTURE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("png", "image/png", include_bytes!("../assets/picture.png")));

struct Asset {
    name: String,
    kind: &'static str,
    bytes: &'static [u8],
    gzip: Bytes,
}

impl Asset {
    fn new(ending: &str, kind: &'static str, bytes: &'static [u8]) -> Self {
        let digest = hex::encode(&Sha256::digest(bytes)[..6]);
        Self { name: format!("madang.{digest}.{ending}"), kind, bytes, gzip: gzip::compress(bytes, Effort::Asset) }
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let compress = gzip::is_accepted(headers);
        let body = if compress { Body::from(self.gzip.clone()) } else { Body::from(self.bytes) };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, FOR_GOOD);
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if compress {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Where the style is.
pub(crate) fn style_path() -> String {
    format!("/assets/{}", STYLE.name)
}

/// Where the script is.
pub(crate) fn script_path() -> String {
    format!("/assets/{}", SCRIPT.name)
}

/// Where the icon is.
pub(crate) fn icon_path() -> String {
    format!("/assets/{}", ICON.name)
}

/// Where the picture is.
pub(crate) fn picture_path() -> String {
    format!("/assets/{}", PICTURE.name)
}

/// One of the four by its name.
pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let known = [&*STYLE, &*SCRIPT, &*ICON, &*PICTURE].into_iter().find(|asset| asset.name == name);
    known.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |asset| asset.answer(&headers))
}

/// Browsers that look for the icon by its old name.
pub(crate) async fn icon(headers: HeaderMap) -> Response {
    let mut response = ICON.answer(&headers);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a first visit may cost beside its page.
    const ASSETS_BYTES_MAX: usize = 30 * 1_024;

    #[test]
    fn the_script_runs_no_text_and_keeps_drafts_alone() {
        let script = include_str!("../assets/madang.js");
        for way in ["eval(", "new Function", "document.write", "setTimeout(\"", "javascript:", "import("] {
            assert!(!script.contains(way), "{way} runs text");
        }
        let kept: Vec<&str> = script.split("Storage.setItem(").skip(1).collect();
        let is_draft =
            |call: &&str| call.starts_with("this.key(form), JSON.stringify(") || call.starts_with("\"sent\", ");
        assert!(kept.len() == 2 && kept.iter().all(is_draft), "only drafts, and which was sent: {}", kept.len());
        assert!(!script.contains("document.cookie"), "the session is no script's business");
    }

    #[test]
    fn style_and_script_are_small() {
        let bytes = STYLE.gzip.len() + SCRIPT.gzip.len();
        assert!(bytes < ASSETS_BYTES_MAX, "{bytes} bytes compressed");
    }
}
