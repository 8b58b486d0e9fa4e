//! The query model: articles with their counts and the newest of each board, read in one look-up and rebuilt from the
//! owners. It owns nothing; whoever deletes it loses time, never data.

mod activity;
mod board_list;
mod change;
mod compare;
mod compare_lists;
mod compare_rankings;
mod consumer;
mod entry;
mod invalidation;
mod loader;
mod meters;
mod model;
mod owners;
mod pins;
mod rank_service;
mod ranking;
mod ranking_source;
mod rankings;
mod rebuild;
#[cfg(test)]
mod sample;
mod service;
mod text;
mod view_counts;

pub use activity::Activity;
pub use board_list::{BoardList, GONE_MAX, LIST_MAX, ListChanges, Step, Window};
pub use change::{BoardChange, Change, Presence};
pub use compare::{Comparison, DIFFERENCES_MAX, Difference, Group, State};
pub use compare_lists::{ListDifference, ListDifferenceKind};
pub use compare_rankings::RankingDifference;
pub use consumer::ReadConsumer;
pub use entry::{ArticleGroup, Count, Discussion, Entry, Shown};
pub use invalidation::{Floor, Invalidation};
pub use loader::{LoadLoop, Loader, Source, loader};
pub use madang_event::{ArticleHead, ArticlePlace, LastComment, NewestArticles};
pub use model::{
    ABSENT_TTL_MS, ENTRY_TTL_MS, Filled, FilledList, Freshness, LEASE_MS, Lease, ListLookup, Lookup, ModelSize,
    ReadModel, Reservation, STALE_MAX_MS, WholeList, freshness,
};
pub use owners::{ActiveArticle, ArticleOwner, CommentOwner, JoinedArticle, LikeOwner, Owners, ReadJoined, ViewOwner};
pub use rank_service::{Ranked, Sort};
pub use ranking::{Candidate, RANKING_MAX, Rank, RankedStep, Ranking, RankingKey};
pub use rankings::RankingTtl;
pub use service::{ReadArticle, ReadService, ReadSummary};
pub use text::ArticleText;
pub use view_counts::{VIEW_COUNTS_MAX, VIEW_FRESH_MS, VIEW_TTL_MS};
