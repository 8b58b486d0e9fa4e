//! Comments, likes and view counts of articles that are neither there nor marked as deleted.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_mysql::{Many, Server, Values};
use madang_kernel::{Id, ShardId, StoreError};

use super::{CheckFinding, FINDINGS_MAX, MysqlCheck};
use crate::{Mysql, Service};

static BOARDS_OF: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/boards_of.sql")));

/// Counters looked up at a time; one statement's worth of keys.
const SLICE: usize = 256;

/// The statements that tell counted articles from a cursor on, and those that are gone of some.
fn statements(service: Service) -> Option<(&'static str, Many, &'static str)> {
    let (counted, gone, part) = match service {
        Service::Comment => (
            include_str!("../../sql/comment/counted_articles.sql"),
            include_str!("../../sql/comment/gone.sql"),
            "comments",
        ),
        Service::Like => {
            (include_str!("../../sql/like/counted_articles.sql"), include_str!("../../sql/like/gone.sql"), "likes")
        }
        Service::View => {
            (include_str!("../../sql/view/counted_articles.sql"), include_str!("../../sql/view/gone.sql"), "views")
        }
        Service::Member | Service::Article | Service::HotArticle => return None,
    };
    Some((counted, Many::parse(gone), part))
}

impl MysqlCheck<'_> {
    /// Counters of this service whose article is neither in `articles` nor marked here as deleted. What the service has not
    /// heard of yet is reported too, so it means something only once its consumer group has caught up. Nothing of services
    /// that keep no parts of articles.
    pub async fn without_article(&self, articles: &Mysql) -> Result<Vec<CheckFinding>, StoreError> {
        let Some((counted, gone, part)) = statements(self.service) else { return Ok(Vec::new()) };
        let mut findings = Vec::new();
        for server in self.db.servers() {
            let mut after = i64::MIN;
            loop {
                let mut slice: Vec<i64> = Vec::new();
                for mut cells in self.db.read(server, counted, vec![after.into(), SLICE.into()]).await? {
                    slice.push(cells.next()?);
                }
                let Some(last) = slice.last().copied() else { break };
                after = last;
                let missing = missing(articles, slice).await?;
                for article in not_gone(self.db, server, &gone, missing).await? {
                    findings.push(CheckFinding::WithoutArticle { article_id: ArticleId::from_raw(article), part });
                }
                if findings.len() >= FINDINGS_MAX {
                    return Ok(findings);
                }
            }
        }
        Ok(findings)
    }
}

/// Of some articles those that are not there, whichever server would have them.
async fn missing(articles: &Mysql, asked: Vec<i64>) -> Result<Vec<i64>, StoreError> {
    let mut by_server: BTreeMap<_, Vec<Values>> = BTreeMap::new();
    for article in &asked {
        let shard = ArticleId::from_raw(*article).shard();
        let key = vec![shard.number().into(), (*article).into()];
        by_server.entry(articles.map().server(shard)).or_default().push(key);
    }
    let mut there = HashSet::new();
    for (server, keys) in by_server {
        for mut cells in articles.read_many(articles.server(server), &BOARDS_OF, keys).await? {
            there.insert(cells.next::<i64>()?);
        }
    }
    Ok(asked.into_iter().filter(|article| !there.contains(article)).collect())
}

/// Asked after the articles: what was deleted before that question may be marked by now.
async fn not_gone(db: &Mysql, server: &Server, gone: &Many, asked: Vec<i64>) -> Result<Vec<i64>, StoreError> {
    let key = |article: &i64| vec![ShardId::of_parts(ArticleId::from_raw(*article)).number().into(), (*article).into()];
    let mut marked = HashSet::new();
    for mut cells in db.read_many(server, gone, asked.iter().map(key).collect()).await? {
        marked.insert(cells.next::<i64>()?);
    }
    Ok(asked.into_iter().filter(|article| !marked.contains(article)).collect())
}
