//! The databases of the board: one a service, each with its own tables.

use madang_engine_mysql::Database;

use crate::moved_tables::moved_tables;

/// The table that remembers which migrations of a service's own have run.
const OWN: &str = "schema_history";

/// The migrations of each folder.
macro_rules! migrations {
    ($($name:ident: $folder:tt;)*) => {$(
        mod $name {
            refinery::embed_migrations!($folder);
        }
    )*};
}

migrations! {
    member: "migrations/member";
    copy: "migrations/copy";
    article: "migrations/article";
    comment: "migrations/comment";
    like: "migrations/like";
    hot_article: "migrations/hot_article";
    view: "migrations/view";
}

/// A service with a database of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    /// Members, revocations, node leases.
    Member,
    /// Boards and articles.
    Article,
    /// Comments.
    Comment,
    /// Likes.
    Like,
    /// View counts.
    View,
    /// Scores and lists of hot articles.
    HotArticle,
}

impl Service {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Member, Self::Article, Self::Comment, Self::Like, Self::View, Self::HotArticle];

    /// Its name, as roles are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Article => "article",
            Self::Comment => "comment",
            Self::Like => "like",
            Self::View => "view",
            Self::HotArticle => "hot-article",
        }
    }
}

impl From<Service> for Database {
    fn from(service: Service) -> Self {
        let database = Self::new(service.name()).with_moved_tables(moved_tables(service));
        let own = match service {
            Service::Member => {
                return database
                    .with_migrations("schema_copy", copy::migrations::runner)
                    .with_migrations(OWN, member::migrations::runner);
            }
            Service::Article => article::migrations::runner,
            Service::Comment => comment::migrations::runner,
            Service::Like => like::migrations::runner,
            Service::View => view::migrations::runner,
            Service::HotArticle => hot_article::migrations::runner,
        };
        database.with_migrations(OWN, own)
    }
}
