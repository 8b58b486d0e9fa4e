//! The limit of what is answered without a write: axum with a constant body at every address, and nothing of ours around it.

use anyhow::{Context, Result};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use crate::cli::BareOptions;

/// Serves until killed; prints where, in the words of `madang serve`.
pub(crate) async fn serve(options: &BareOptions) -> Result<()> {
    // As static as a body can be: not even a reference count is touched.
    let body: &'static str = "x".repeat(options.body_bytes).leak();
    let routes = Router::new().fallback(move || async move { ([(CONTENT_TYPE, "application/json")], body) });
    let listener =
        TcpListener::bind(options.listen).await.with_context(|| format!("cannot bind {}", options.listen))?;
    println!("listening on http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // A connection that refuses the option still answers, only later.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, routes).await.context("the bare server stopped")
}
