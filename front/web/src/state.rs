//! What the pages work with: the services, and what the composition root knows of the site.

use std::sync::Arc;

use jiff::tz::TimeZone;
use madang_article::ArticleService;
use madang_article_read::ReadService;
use madang_comment::CommentService;
use madang_hot_article::HotService;
use madang_kernel::Clock;
use madang_like::LikeService;
use madang_member::{MemberService, Moderation};
use madang_messaging::{DeadLetters, EventLog, Ladders};
use madang_search::SearchService;
use madang_server::{HealthHistory, Readiness, RequestPolicy};
use madang_view::{GuestKey, ViewService};

use crate::LiveFeed;
use crate::board_directory::BoardDirectory;
use crate::hot::Movements;
use crate::live::NetworkStreams;
use crate::page_cache::PageCache;
use crate::site_time::SiteTime;

/// What the pages work with.
#[derive(Clone)]
pub struct WebState {
    /// Members and sessions.
    pub members: Arc<MemberService>,
    /// Reports, and what moderators did.
    pub moderation: Arc<Moderation>,
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
    /// Comments.
    pub comments: Arc<CommentService>,
    /// Likes.
    pub likes: Arc<LikeService>,
    /// Views.
    pub views: Arc<ViewService>,
    /// Reading: articles and lists with their counts.
    pub read: Arc<ReadService>,
    /// The hot articles of the last days.
    pub hot: Arc<HotService>,
    /// Search; on a site without an engine it says so.
    pub search: Arc<SearchService>,
    /// Turns a guest's address into somebody who can be counted once and not be recognised.
    pub guests: GuestKey,
    /// Tells of changes to an article that somebody has open.
    pub live: Arc<dyn LiveFeed>,
    /// What administrators are told about the parts of the process.
    pub readiness: Arc<dyn Readiness>,
    /// How the process has fared over the last day.
    pub history: Arc<dyn HealthHistory>,
    /// What a request may cost and whom it is believed to come from, as for the API. Where cookies are sent over TLS only,
    /// addresses start with https.
    pub policy: RequestPolicy,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// The site's time zone: dates are shown in it.
    pub zone: TimeZone,
    /// Messages that were given up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Where such a message goes when it is sent again.
    pub log: Arc<dyn EventLog>,
    /// By which way it goes to its group there.
    pub ladders: Ladders,
    /// Opens the set-up page while the site has no administrator; without it the page does not exist.
    pub setup_token: Option<Arc<str>>,
}

/// The state as axum carries it: what was handed in, and what the pages keep for themselves.
pub(crate) struct Web {
    pub(crate) site: WebState,
    pub(crate) boards: BoardDirectory,
    pub(crate) pages: PageCache,
    pub(crate) time: SiteTime,
    pub(crate) movements: Movements,
    pub(crate) streams: NetworkStreams,
}

/// One reference to count per request instead of one for each part.
pub(crate) type Shared = Arc<Web>;

impl Web {
    pub(crate) fn new(site: WebState) -> Self {
        Self {
            boards: BoardDirectory::new(Arc::clone(&site.articles)),
            pages: PageCache::default(),
            movements: Movements::default(),
            streams: NetworkStreams::default(),
            time: SiteTime::new(site.zone.clone(), Arc::clone(&site.clock)),
            site,
        }
    }
}
