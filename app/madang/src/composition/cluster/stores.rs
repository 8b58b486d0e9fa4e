//! The stores of the roles of a process, each on the database of its service.

use std::sync::Arc;

use madang_mysql::{MysqlArticles, MysqlComments, MysqlHot, MysqlLikes, MysqlMembers, MysqlViews, Service};

use super::servers::Servers;
use crate::config::roles::{Role, Roles};

/// One store a service; one that the roles of this process do not need is absent.
pub(super) struct ClusterStores {
    pub(super) members: Option<Arc<MysqlMembers>>,
    pub(super) articles: Option<Arc<MysqlArticles>>,
    pub(super) comments: Option<Arc<MysqlComments>>,
    pub(super) likes: Option<Arc<MysqlLikes>>,
    pub(super) views: Option<Arc<MysqlViews>>,
    /// Hot scores as they are stored, without the ranking in front of them.
    pub(super) scores: Option<Arc<MysqlHot>>,
}

impl ClusterStores {
    /// The stores on the databases that this process has.
    pub(super) fn on(servers: &Servers, roles: &Roles) -> Self {
        let database = |service| servers.database(service);
        Self {
            // Every process opens the members' database, for its node number; the store is for those who run members.
            members: roles.runs(Role::Member).then(|| Arc::new(MysqlMembers::new(servers.member.clone()))),
            articles: database(Service::Article).map(|database| Arc::new(MysqlArticles::new(database))),
            comments: database(Service::Comment).map(|database| Arc::new(MysqlComments::new(database))),
            likes: database(Service::Like).map(|database| Arc::new(MysqlLikes::new(database))),
            views: database(Service::View).map(|database| Arc::new(MysqlViews::new(database))),
            scores: database(Service::HotArticle).map(|database| Arc::new(MysqlHot::new(database))),
        }
    }
}
