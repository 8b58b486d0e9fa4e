//! Every table of the board's own, by service: what goes along when a shard moves to another server. A table that is missing here
//! keeps every shard where it is, and fails a test.

use crate::Service;

/// The tables of a service, beside those of the engine.
pub(crate) fn moved_tables(service: Service) -> &'static [&'static str] {
    match service {
        Service::Member => &[
            "member",
            "revocation",
            "revocation_head",
            "session",
            "password_reset",
            "report",
            "moderation_act",
            "node_lease",
            "site_copy",
            "copy_progress",
        ],
        Service::Article => &[
            "board",
            "board_article_count",
            "article_block",
            "article",
            "article_removed",
            "article_pin",
            "moderation_act",
            "once_answer",
        ],
        Service::Comment => &[
            "comment",
            "comment_removed",
            "article_comment_count",
            "comment_article_gone",
            "moderation_act",
            "once_answer",
        ],
        Service::Like => &["article_like", "article_like_count", "like_article_gone"],
        Service::View => &["article_view_count", "view_article_gone"],
        Service::HotArticle => &["hot_day", "hot_score", "hot_final"],
    }
}
