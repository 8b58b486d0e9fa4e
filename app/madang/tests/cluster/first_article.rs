//! How most tests of a site begin: processes on a day that does not end meanwhile, a member, a board and an article.

use crate::cluster::Cluster;
use crate::quiet::{configure, quiet_zone};
use crate::servers::Servers;

/// A site with one article, and who wrote it.
pub(crate) struct FirstArticle {
    pub(crate) servers: Servers,
    pub(crate) cluster: Cluster,
    /// The token of the member who wrote it.
    pub(crate) ann: String,
    pub(crate) board: String,
    pub(crate) article: String,
}

impl FirstArticle {
    /// On one process with every role.
    pub(crate) fn on_one_process() -> Self {
        Self::on(&["all"])
    }

    /// On a process for each list of roles.
    pub(crate) fn on(roles: &[&str]) -> Self {
        let servers = Servers::of_environment();
        let mut cluster = Cluster::prepared(&servers, roles);
        configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
        cluster.start();
        let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
        let article = cluster.article(&board, &ann, "first");
        Self { servers, cluster, ann, board, article }
    }
}
