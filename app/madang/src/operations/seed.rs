//! `madang seed`: fills a site for load tests, with enough calls in flight that commits are shared.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use futures_util::{StreamExt as _, TryStreamExt as _};
use madang_article::{Article, ArticleError, ArticleStore, BoardDraft, CommentMode, CreateArticle};
use madang_event::Writer;
use madang_kernel::{Actor, ArticleId, BoardId, EventId, Id as _, MemberId, Role, StoreError};
use madang_member::SignedIn;

use super::seed_text::SeedTexts;
use crate::report::Report;
use crate::site::Site;

/// Creations under way at the same time.
const IN_FLIGHT: usize = 768;
/// How often a call that found the queue full is tried again before the seeding gives up.
const ATTEMPTS_MAX: u32 = 600;
/// How long it waits in between.
const RETRY_MS: u64 = 50;
/// Articles between two words about progress.
const PROGRESS_EVERY: u64 = 1_000;
/// Members registered in one step.
const MEMBERS_STEP: u64 = 10_000;
/// Ranges of taken names skipped before the seeding gives up.
const NAME_RANGES_MAX: u64 = 10_000;

/// How much to fill in.
pub(super) struct Amounts {
    pub(super) boards: u64,
    pub(super) articles: u64,
    pub(super) members: u64,
    pub(super) board: Option<String>,
}

/// Fills the site.
pub(super) async fn seed(site: &Site, beside_people: bool, amounts: Amounts, report: &Report) -> anyhow::Result<u8> {
    let boards = boards(site, &amounts, report).await?;
    if amounts.articles > 0 && boards.is_empty() {
        bail!("articles need a board: give --boards N, or --board SLUG");
    }
    let members = members(site, amounts.members, report).await?;
    if amounts.articles == 0 {
        return Ok(0);
    }
    let store = site.backing.seed_store(beside_people)?;
    let seeding = Seeding { site, store, boards, members, texts: SeedTexts::new() };
    let started = Instant::now();
    seeding.articles(amounts.articles, report).await?;
    let seconds = started.elapsed().as_secs_f64().max(0.001);
    let rate = amounts.articles as f64 / seconds;
    report.text(format!("{} articles in {seconds:.1} s, {rate:.0} a second", amounts.articles)).await?;
    Ok(0)
}

async fn boards(site: &Site, amounts: &Amounts, report: &Report) -> anyhow::Result<Vec<BoardId>> {
    // Boards do not record who made them, so nobody has to be registered for this.
    let internal = Actor::new(MemberId::from_raw(1), "seed", Role::Admin);
    let articles = site.services.articles()?;
    let mut known: HashMap<String, BoardId> =
        articles.boards().await?.into_iter().map(|known| (known.board.slug, known.board.board_id)).collect();
    let wanted: Vec<(String, String)> = match &amounts.board {
        Some(slug) => vec![(slug.clone(), slug.clone())],
        None => {
            (1..=amounts.boards).map(|number| (format!("seed-{number}"), format!("Seeded board {number}"))).collect()
        }
    };
    let mut boards = Vec::new();
    let mut made = 0;
    for (slug, title) in wanted {
        if let Some(board) = known.remove(&slug) {
            boards.push(board);
            continue;
        }
        let draft = BoardDraft { slug: slug.clone(), title, comment_mode: CommentMode::TwoLevel };
        match articles.create_board(&internal, draft, None).await {
            Ok(created) => boards.push(created.board.board_id),
            Err(ArticleError::SlugTaken) => bail!("somebody made the board {slug} meanwhile; run the command again"),
            Err(error) => return Err(error).with_context(|| format!("board {slug}")),
        }
        made += 1;
    }
    if !boards.is_empty() {
        report.text(format!("{made} boards made, {} there already", boards.len() - made)).await?;
    }
    Ok(boards)
}

/// Registers new members, skipping the names that an earlier seeding took.
async fn members(site: &Site, count: u64, report: &Report) -> anyhow::Result<Vec<Writer>> {
    let mut writers = Vec::new();
    let mut first = 1;
    for _ in 0..NAME_RANGES_MAX {
        let missing = count - writers.len() as u64;
        if missing == 0 {
            break;
        }
        let step = missing.min(MEMBERS_STEP);
        for SignedIn { token, member, .. } in site.services.members()?.seed("seed_", first, step).await? {
            report.token(format!("{} {token}", member.member_id)).await?;
            writers.push(Writer { member_id: member.member_id, name: member.name });
        }
        first += step;
        report.progress("members", writers.len() as u64, count);
    }
    if (writers.len() as u64) < count {
        bail!("too many names seed_N are taken: {} of {count} members registered", writers.len());
    }
    report.text(format!("{count} members registered")).await?;
    Ok(writers)
}

struct Seeding<'a> {
    site: &'a Site,
    store: Arc<dyn ArticleStore>,
    boards: Vec<BoardId>,
    members: Vec<Writer>,
    texts: SeedTexts,
}

impl Seeding<'_> {
    async fn articles(&self, count: u64, report: &Report) -> anyhow::Result<()> {
        let created =
            futures_util::stream::iter(0..count).map(|number| self.article(number)).buffer_unordered(IN_FLIGHT);
        let mut done = 0;
        let mut created = std::pin::pin!(created);
        while created.try_next().await?.is_some() {
            done += 1;
            if done % PROGRESS_EVERY == 0 || done == count {
                report.progress("articles", done, count);
            }
        }
        Ok(())
    }

    async fn article(&self, number: u64) -> anyhow::Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            match self.try_article(number).await {
                Ok(()) => return Ok(()),
                // The queue is full, or the lease is just being renewed: people go first, we wait.
                Err(StoreError::Unavailable { .. }) => tokio::time::sleep(Duration::from_millis(RETRY_MS)).await,
                Err(error) => return Err(error.into()),
            }
        }
        bail!("the store has been too busy for {} s", u64::from(ATTEMPTS_MAX) * RETRY_MS / 1_000)
    }

    async fn try_article(&self, number: u64) -> Result<(), StoreError> {
        let board_id = self.boards[number as usize % self.boards.len()];
        let writer = &self.members[number as usize % self.members.len()];
        let (content, content_html) = self.texts.body(number);
        let now = self.site.clock.now();
        let article = Article {
            article_id: self.site.ids.next::<ArticleId>(board_id.shard())?,
            board_id,
            title: self.texts.title(number),
            content: content.to_owned(),
            content_html: content_html.to_owned(),
            writer: writer.clone(),
            created_at: now,
            modified_at: now,
            version: 1,
        };
        let event_id = self.site.ids.next::<EventId>(board_id.shard())?;
        self.store.create(CreateArticle { article, event_id, once: None }).await.map(|_| ())
    }
}
