//! The read side of a site in a test: the query model over its services, with its loads running.

use std::sync::Arc;

use madang_article::ArticleService;
use madang_article_read::ReadService;
use madang_comment::CommentService;
use madang_kernel::SystemClock;
use madang_like::LikeService;
use madang_memory::{MemoryReadModel, local_owners};
use madang_messaging::{OnError, Supervisor};
use madang_view::ViewService;

/// Memory for the few articles of a test.
const BUDGET_BYTES: u64 = 16_000_000;

/// Reading over these services, and the model, which is told of commits where there are any.
pub(crate) fn read_side(
    articles: Arc<ArticleService>,
    comments: Arc<CommentService>,
    likes: Arc<LikeService>,
    views: Arc<ViewService>,
) -> (Arc<ReadService>, Arc<MemoryReadModel>) {
    let model = Arc::new(MemoryReadModel::new(BUDGET_BYTES, Arc::new(SystemClock)));
    let owners = local_owners(articles, comments, likes, views, None);
    let read = Arc::new(ReadService::new(model.clone(), owners, Arc::new(SystemClock)));
    // Lives as long as the runtime of the test.
    let loads: &'static Supervisor = Box::leak(Box::new(Supervisor::new("loads")));
    let running = read.clone();
    loads.spawn("loads", OnError::Restart, move |stop| {
        let running = running.clone();
        async move { running.run(stop).await }
    });
    (read, model)
}
