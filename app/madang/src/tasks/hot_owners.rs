//! The owners of what the hot articles are scored by, as this process has them: for a rebuild and a check.

use std::sync::Arc;

use async_trait::async_trait;
use madang_article_read::{ArticleOwner as _, CommentOwner as _, Count, LikeOwner as _};
use madang_board::{ArticleId, ArticleLookup, BoardId};
use madang_hot_article::{Counts, HotOwners, Reading};
use madang_kernel::{PageSize, StoreError};
use madang_memory::{LocalArticles, LocalComments, LocalLikes};
use madang_view::ViewService;

use crate::composition::site::Site;

/// Services of this process.
pub(crate) struct SiteOwners {
    articles: LocalArticles,
    comments: LocalComments,
    likes: LocalLikes,
    views: Arc<ViewService>,
    lookup: Arc<dyn ArticleLookup>,
    slice: PageSize,
}

impl SiteOwners {
    /// The owners of a site; an error where this process has not all of them.
    pub(crate) fn of(site: &Site) -> anyhow::Result<Self> {
        let services = &site.services;
        Ok(Self {
            articles: LocalArticles(services.articles()?.clone()),
            comments: LocalComments(services.comments()?.clone()),
            likes: LocalLikes(services.likes()?.clone()),
            views: services.views()?.clone(),
            lookup: services.article_lookup.clone(),
            slice: PageSize::new("slice", PageSize::MAX.into())?,
        })
    }
}

#[async_trait]
impl HotOwners for SiteOwners {
    async fn boards(&self) -> Result<Vec<BoardId>, StoreError> {
        self.articles.boards().await
    }

    async fn articles_before(&self, board: BoardId, before: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        let step = self.articles.scroll(board, before, self.slice).await?;
        Ok(step.map_or_else(Vec::new, |step| step.items.iter().map(|item| item.article_id).collect()))
    }

    /// Whether they are there is asked last: who deletes an article deletes what is counted of it afterwards.
    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Counts>>, StoreError> {
        let (comments, likes, views) = tokio::try_join!(
            self.comments.comment_counts(articles),
            self.likes.like_counts(articles),
            self.views.stored_counts(articles),
        )?;
        let mut exist = self.lookup.exist(articles).await?;
        // What a moderator removed exists, and is shown nowhere.
        for (article, exists) in articles.iter().zip(&mut exist) {
            *exists = *exists && self.lookup.facts(*article).await?.is_some();
        }
        // What an owner has marked as gone of an article that is there counts nothing until its parts are rebuilt.
        let reading =
            |count: Option<Count>| count.map_or_else(Reading::default, |it| Reading::new(it.count, it.version));
        let counted = exist.into_iter().zip(comments.into_iter().zip(likes.into_iter().zip(views)));
        let counts = counted.map(|(exists, (comments, (likes, views)))| {
            let views = views.map(|views| Count { count: views.view_count, version: views.version });
            let comments = comments.map(|comments| Count { count: comments.count, version: comments.version });
            let (likes, comments, views) = (reading(likes), reading(comments), reading(views));
            exists.then(|| Counts { likes, comments, views, hidden: Reading::default() })
        });
        Ok(counts.collect())
    }
}
