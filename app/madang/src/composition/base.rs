//! What every service is made with, whichever adapters stand behind it: one function a service, so that the two
//! compositions differ only in what they put in.

use std::sync::Arc;

use anyhow::Context as _;
use jiff::tz::TimeZone;
use madang_article::markdown::Markdown;
use madang_article::{ArticleService, ArticleStore};
use madang_article_read::{Owners, ReadModel, ReadService};
use madang_board::ArticleLookup;
use madang_comment::{CommentService, CommentStore, DepthMax};
use madang_hot_article::{HotService, HotStore, Progress, SiteDays};
use madang_kernel::{Clock, IdGenerator, NodeLease, NodeLeases};
use madang_like::{LikeService, LikeStore};
use madang_member::{MemberService, MemberStore, SigningKeys};
use madang_view::{GuestKey, LiveLimits, LiveViews, ViewService, ViewStore};

use super::member_options;
use crate::config::{Settings, Switch};

/// The node number of a process: where it is leased, the first lease, and for how long each is.
pub(super) struct NodeNumber {
    pub(super) leases: Arc<dyn NodeLeases>,
    pub(super) first: NodeLease,
    pub(super) lease_ms: i64,
}

/// What the services of a process have in common.
pub(super) struct Base<'a> {
    pub(super) settings: &'a Settings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) leases: Arc<dyn NodeLeases>,
    pub(super) lease_ms: i64,
    pub(super) ids: Arc<IdGenerator>,
    pub(super) guests: GuestKey,
    pub(super) days: SiteDays,
    time_zone: TimeZone,
    comment_depth: DepthMax,
}

impl<'a> Base<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        clock: Arc<dyn Clock>,
        node: NodeNumber,
        guests: GuestKey,
    ) -> anyhow::Result<Self> {
        let NodeNumber { leases, first, lease_ms } = node;
        let ids = Arc::new(IdGenerator::new(clock.clone(), first));
        let time_zone = TimeZone::get(&settings.time_zone).context("setting `time_zone`")?;
        let comment_depth =
            DepthMax::new(settings.comment_depth_max).context("setting `comment_depth_max` is out of range")?;
        let days = SiteDays::new(time_zone.clone());
        Ok(Self { settings, clock, leases, lease_ms, ids, guests, days, time_zone, comment_depth })
    }

    pub(super) fn members(&self, store: Arc<dyn MemberStore>, keys: SigningKeys) -> Arc<MemberService> {
        let options = member_options(self.settings);
        Arc::new(MemberService::new(store, self.ids.clone(), self.clock.clone(), keys, options))
    }

    pub(super) fn articles(&self, store: Arc<dyn ArticleStore>) -> ArticleService {
        ArticleService::new(store, self.ids.clone(), self.clock.clone())
    }

    pub(super) fn comments(
        &self,
        store: Arc<dyn CommentStore>,
        articles: Arc<dyn ArticleLookup>,
    ) -> Arc<CommentService> {
        let (ids, clock) = (self.ids.clone(), self.clock.clone());
        Arc::new(CommentService::new(store, articles, Arc::new(Markdown), ids, clock, self.comment_depth))
    }

    pub(super) fn likes(&self, store: Arc<dyn LikeStore>, articles: Arc<dyn ArticleLookup>) -> Arc<LikeService> {
        Arc::new(LikeService::new(store, articles, self.ids.clone(), self.clock.clone()))
    }

    /// Load tests, which switch limits off, have one address for all their guests.
    pub(super) fn live_limits(&self) -> LiveLimits {
        let network_guests_max = match self.settings.rate_limit {
            Switch::On => self.settings.guest_views_per_network,
            Switch::Off => u32::MAX,
        };
        LiveLimits { network_guests_max, ..LiveLimits::default() }
    }

    pub(super) fn views(
        &self,
        store: Arc<dyn ViewStore>,
        articles: Arc<dyn ArticleLookup>,
        live: Arc<dyn LiveViews>,
    ) -> Arc<ViewService> {
        let (ids, clock, zone) = (self.ids.clone(), self.clock.clone(), self.time_zone.clone());
        Arc::new(ViewService::over(store, articles, ids, clock, live, zone))
    }

    pub(super) fn read(&self, model: Arc<dyn ReadModel>, owners: Owners) -> Arc<ReadService> {
        Arc::new(ReadService::new(model, owners, self.clock.clone()))
    }

    pub(super) fn hot(&self, store: Arc<dyn HotStore>, progress: Arc<dyn Progress>) -> HotService {
        HotService::new(store, self.clock.clone(), self.days.clone(), progress)
    }
}
