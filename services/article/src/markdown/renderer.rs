//! Rendering for those who write: long texts off the async workers and a few at a time, because a text that takes the
//! parser milliseconds would hold up every request that waits for the same worker.

use async_trait::async_trait;
use madang_board::TextRenderer;
use tokio::sync::Semaphore;

use super::{plain, render};

/// Shorter texts are rendered at once: handing one over would take longer.
const INLINE_BYTES_MAX: usize = 2 * 1_024;
/// Long texts that are rendered at the same time, in the whole process.
const AT_ONCE_MAX: usize = 2;

static PERMITS: Semaphore = Semaphore::const_new(AT_ONCE_MAX);

/// Renders as [`render`] does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Markdown;

#[async_trait]
impl TextRenderer for Markdown {
    async fn html(&self, text: &str) -> String {
        if text.len() <= INLINE_BYTES_MAX {
            return render(text);
        }
        let owned = text.to_owned();
        let permit = PERMITS.acquire().await;
        // The permit goes along: should the writer leave, the work is still under way.
        let rendering = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            render(&owned)
        });
        rendering.await.unwrap_or_else(|_| plain::render_verbatim(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_texts_become_what_short_ones_do_and_wait_for_their_turn() {
        for text in ["# short".to_owned(), "*long* ".repeat(2_000)] {
            assert_eq!(Markdown.html(&text).await, render(&text));
        }
        let text = "*a ".repeat(6_000);
        let busy = PERMITS.acquire_many(2).await.unwrap();
        let mut rendering = Box::pin(Markdown.html(&text));
        let is_waiting =
            std::future::poll_fn(|context| std::task::Poll::Ready(rendering.as_mut().poll(context).is_pending()));
        assert!(is_waiting.await, "while as many are rendered as may be");
        drop(busy);
        assert_eq!(rendering.await, render(&text));
    }
}
