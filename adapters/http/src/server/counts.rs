//! Answers of the owners of comments, likes and views.

use std::sync::Arc;

use axum::Router;
use madang_article_read::{CommentOwner, Count, LikeOwner, ViewOwner};

use super::reply::{at_most, on};
use crate::wire::{COUNTS_MAX, CommentCountsOf, CountsAnswer, LikeCountsOf, ViewCountsAnswer, ViewCountsOf};

pub(super) fn comments(router: Router, owner: Arc<dyn CommentOwner>) -> Router {
    on(router, move |question: CommentCountsOf| {
        let owner = Arc::clone(&owner);
        async move {
            at_most("articles", question.articles.len(), COUNTS_MAX)?;
            Ok(told(owner.comment_counts(&question.articles).await?))
        }
    })
}

pub(super) fn likes(router: Router, owner: Arc<dyn LikeOwner>) -> Router {
    on(router, move |question: LikeCountsOf| {
        let owner = Arc::clone(&owner);
        async move {
            at_most("articles", question.articles.len(), COUNTS_MAX)?;
            Ok(told(owner.like_counts(&question.articles).await?))
        }
    })
}

pub(super) fn views(router: Router, owner: Arc<dyn ViewOwner>) -> Router {
    on(router, move |question: ViewCountsOf| {
        let owner = Arc::clone(&owner);
        async move {
            at_most("articles", question.articles.len(), COUNTS_MAX)?;
            Ok(ViewCountsAnswer { counts: owner.view_counts(&question.articles).await? })
        }
    })
}

fn told(counts: Vec<Option<Count>>) -> CountsAnswer {
    CountsAnswer { counts: counts.into_iter().map(|count| count.map(Into::into)).collect() }
}
