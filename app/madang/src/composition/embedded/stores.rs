//! The stores of an embedded site: all of them on one file.

use std::sync::Arc;

use madang_sqlite::{
    Sqlite, SqliteArticles, SqliteComments, SqliteHot, SqliteLikes, SqliteMembers, SqliteSearch, SqliteViews,
};

/// One store a service.
pub(super) struct EmbeddedStores {
    pub(super) members: Arc<SqliteMembers>,
    pub(super) articles: Arc<SqliteArticles>,
    pub(super) comments: Arc<SqliteComments>,
    pub(super) likes: Arc<SqliteLikes>,
    pub(super) views: Arc<SqliteViews>,
    pub(super) hot: Arc<SqliteHot>,
    pub(super) search: Arc<SqliteSearch>,
}

impl EmbeddedStores {
    /// The stores on a file.
    pub(super) fn on(database: &Sqlite) -> Self {
        Self {
            members: Arc::new(SqliteMembers::new(database.clone())),
            articles: Arc::new(SqliteArticles::new(database.clone())),
            comments: Arc::new(SqliteComments::new(database.clone())),
            likes: Arc::new(SqliteLikes::new(database.clone())),
            views: Arc::new(SqliteViews::new(database.clone())),
            hot: Arc::new(SqliteHot::new(database.clone())),
            search: Arc::new(SqliteSearch::new(database.clone())),
        }
    }
}
