//! `/openapi.json`, encoded once, and `/docs`, whose files are part of the binary. Both are compressed once, by the first who
//! takes them so, and answered with 304 to who has them already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use madang_server::gzip::Effort;
use madang_server::{CachedBody, Rejection, isolate, run_large};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa_swagger_ui::Config;

use crate::extract::Reader;
use crate::{ApiError, reply};

/// Swagger UI writes styles from its script and draws icons from data; everything comes from this process.
const CSP: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Whoever likes may keep it, and checks with us before each use.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// The page around Swagger UI, in place of its own, which has no viewport and no title of ours.
const PAGE: &str = include_str!("docs.html");
const PAGE_NAME: &str = "index.html";

/// The description, and the page to browse it.
pub(crate) fn docs(description: &impl Serialize) -> Router {
    let encoded = serde_json::to_vec(description).unwrap_or_default();
    let description = Arc::new(fixed(encoded.into(), reply::JSON));
    let files = Arc::new(Files { config: Arc::new(Config::from("/openapi.json")), used: Mutex::default() });
    let page = files.clone();
    Router::new()
        .route("/openapi.json", get(async move |reader: Reader| whole(&reader, &description).await))
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(async move |reader: Reader| page.answer(&reader, PAGE_NAME).await))
        .route(
            "/docs/{*rest}",
            get(async move |Path(name): Path<String>, reader: Reader| files.answer(&reader, &name).await),
        )
}

/// The files of Swagger UI that were asked for so far: as many as there are, at most.
struct Files {
    config: Arc<Config<'static>>,
    used: Mutex<HashMap<String, Arc<CachedBody>>>,
}

impl Files {
    async fn answer(&self, reader: &Reader, name: &str) -> Result<Response, ApiError> {
        let file = self.find(name).ok_or(ApiError::NotFound("address"))?;
        let mut response = whole(reader, &file).await?;
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, CSP);
        if file.content_type == HTML {
            isolate(response.headers_mut());
        }
        Ok(response)
    }

    fn find(&self, name: &str) -> Option<Arc<CachedBody>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = used.get(name) {
            return Some(file.clone());
        }
        let file = Arc::new(self.embedded(name)?);
        used.insert(name.to_owned(), file.clone());
        Some(file)
    }

    fn embedded(&self, name: &str) -> Option<CachedBody> {
        if name == PAGE_NAME {
            return Some(fixed(Bytes::from_static(PAGE.as_bytes()), HTML));
        }
        let file = utoipa_swagger_ui::serve(name, self.config.clone()).ok()??;
        let kind = HeaderValue::from_str(&file.content_type).ok()?;
        Some(fixed(file.bytes.into_owned().into(), kind))
    }
}

/// A body with its tag: weak, because it is the same for the compressed bytes.
fn fixed(bytes: Bytes, kind: HeaderValue) -> CachedBody {
    let tag = format!("W/\"{}\"", hex::encode(&Sha256::digest(&bytes)[..8]));
    CachedBody::fixed(bytes, kind, HeaderValue::from_str(&tag).ok())
}

async fn whole(reader: &Reader, file: &Arc<CachedBody>) -> Result<Response, ApiError> {
    if reader.takes_gzip && file.compressed_before().is_none() {
        let file = file.clone();
        run_large(move || file.compressed(Effort::Asset).bytes.len()).await.ok_or(Rejection::Internal)?;
    }
    let mut response = reply::cached(reader, file);
    if response.headers().contains_key(header::CONTENT_TYPE) {
        response.headers_mut().insert(header::CONTENT_TYPE, file.content_type.clone());
    }
    response.headers_mut().insert(header::CACHE_CONTROL, REVALIDATE);
    Ok(response)
}
