//! `madang seed`: fills a site for load tests, with enough calls in flight that commits are shared.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use madang_article::{Article, ArticleError, ArticleStore, BoardDraft, CommentMode, CreateArticle};
use madang_board::{Actor, ArticleId, BoardId, MemberId, Role};
use madang_event::Writer;
use madang_kernel::{EventId, Id as _, StoreError};
use madang_member::SignedIn;

use super::output::{Output, counted};
use super::seed_text::{SeedTexts, index};
use crate::composition::site::{SeedStore, Site, SliceStore};

/// Creations under way at the same time, where a store takes them one by one.
const IN_FLIGHT: usize = 768;
/// Articles of a board created together, where a store takes slices.
const SLICE: u64 = 500;
/// Slices under way at the same time.
const SLICES_IN_FLIGHT: usize = 4;
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
pub(super) async fn seed(site: &Site, in_background: bool, amounts: Amounts, output: &Output) -> anyhow::Result<u8> {
    let boards = boards(site, &amounts, output).await?;
    if amounts.articles > 0 && boards.is_empty() {
        bail!("articles need a board to be on: add --boards N, or --board SLUG");
    }
    let members = members(site, amounts.members, output).await?;
    if amounts.articles == 0 {
        return Ok(0);
    }
    let store = site.backing.seed_store(in_background)?;
    let seeding = Seeding { site, store, boards, members, texts: SeedTexts::new() };
    let started = Instant::now();
    seeding.articles(amounts.articles, output).await?;
    let seconds = started.elapsed().as_secs_f64().max(0.001);
    let rate = amounts.articles as f64 / seconds;
    let created = counted(amounts.articles, "article");
    output.text(format!("{created} created in {seconds:.1} s, {rate:.0} per second")).await?;
    Ok(0)
}

async fn boards(site: &Site, amounts: &Amounts, output: &Output) -> anyhow::Result<Vec<BoardId>> {
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
            Err(ArticleError::SlugTaken) => {
                bail!("somebody else created the board {slug} at the same moment: run the command again")
            }
            Err(error) => return Err(error).with_context(|| format!("cannot create the board {slug}")),
        }
        made += 1;
    }
    if !boards.is_empty() {
        output
            .text(format!("{} created, {} existed already", counted(made, "board"), boards.len() as u64 - made))
            .await?;
    }
    Ok(boards)
}

/// Registers new members, skipping the names that an earlier seeding took.
async fn members(site: &Site, count: u64, output: &Output) -> anyhow::Result<Vec<Writer>> {
    let mut writers = Vec::new();
    let mut first = 1;
    for _ in 0..NAME_RANGES_MAX {
        let missing = count - writers.len() as u64;
        if missing == 0 {
            break;
        }
        let step = missing.min(MEMBERS_STEP);
        for SignedIn { token, member, .. } in site.services.members()?.seed("seed_", first, step).await? {
            output.token(format!("{} {token}", member.member_id)).await?;
            writers.push(Writer { member_id: member.member_id, name: member.name });
        }
        first += step;
        output.progress("members", writers.len() as u64, count);
    }
    if (writers.len() as u64) < count {
        bail!("too many names of the form seed_N are taken: only {} of {count} members were created", writers.len());
    }
    output.text(format!("{} created", counted(count, "member"))).await?;
    Ok(writers)
}

struct Seeding<'a> {
    site: &'a Site,
    store: SeedStore,
    boards: Vec<BoardId>,
    members: Vec<Writer>,
    texts: SeedTexts,
}

impl Seeding<'_> {
    async fn articles(&self, count: u64, output: &Output) -> anyhow::Result<()> {
        let created: BoxStream<'_, anyhow::Result<u64>> = match &self.store {
            SeedStore::OneByOne(store) => {
                let store = store.as_ref();
                let one = move |number| self.patiently(1, move || self.one(store, number));
                futures_util::stream::iter(0..count).map(one).buffer_unordered(IN_FLIGHT).boxed()
            }
            SeedStore::Slices(store) => {
                let store = store.as_ref();
                let slice = move |numbers: Vec<u64>| {
                    self.patiently(numbers.len() as u64, move || self.slice(store, numbers.clone()))
                };
                let slices = slices(count, self.boards.len() as u64);
                futures_util::stream::iter(slices).map(slice).buffer_unordered(SLICES_IN_FLIGHT).boxed()
            }
        };
        let (mut done, mut said) = (0, 0);
        let mut created = created;
        while let Some(more) = created.try_next().await? {
            done += more;
            if done - said >= PROGRESS_EVERY || done == count {
                said = done;
                output.progress("articles", done, count);
            }
        }
        Ok(())
    }

    /// Creates so many articles, however busy the store is.
    async fn patiently<F>(&self, articles: u64, create: impl Fn() -> F) -> anyhow::Result<u64>
    where
        F: Future<Output = Result<(), StoreError>>,
    {
        for _ in 0..ATTEMPTS_MAX {
            match create().await {
                Ok(()) => return Ok(articles),
                // The queue is full, or the lease is just being renewed: requests go first, we wait.
                Err(StoreError::Unavailable { .. }) => tokio::time::sleep(Duration::from_millis(RETRY_MS)).await,
                Err(error) => return Err(error.into()),
            }
        }
        bail!(
            "the store refused articles for {} s because it was too busy or unavailable: run the command again later",
            u64::from(ATTEMPTS_MAX) * RETRY_MS / 1_000
        )
    }

    async fn one(&self, store: &dyn ArticleStore, number: u64) -> Result<(), StoreError> {
        store.create(self.article(number)?).await.map(|_| ())
    }

    async fn slice(&self, store: &dyn SliceStore, numbers: Vec<u64>) -> Result<(), StoreError> {
        let articles = numbers.into_iter().map(|number| self.article(number)).collect::<Result<_, _>>()?;
        store.create_slice(articles).await
    }

    fn article(&self, number: u64) -> Result<CreateArticle, StoreError> {
        let board_id = self.boards[index(number, self.boards.len())];
        let writer = &self.members[index(number, self.members.len())];
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
        Ok(CreateArticle { article, event_id, idempotency: None })
    }
}

/// The numbers of the articles, each slice those of one board, board after board.
fn slices(count: u64, boards: u64) -> impl Iterator<Item = Vec<u64>> {
    let step = SLICE * boards;
    (0..count).step_by(usize::try_from(step).unwrap_or(usize::MAX)).flat_map(move |first| {
        let of_board = move |board: u64| {
            let numbers = (first + board..count.min(first + step)).step_by(usize::try_from(boards).unwrap_or(1));
            numbers.collect::<Vec<u64>>()
        };
        (0..boards).map(of_board).filter(|numbers| !numbers.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_article_is_in_one_slice_and_a_slice_is_of_one_board() {
        for (count, boards) in [(0, 3), (1, 1), (2, 3), (1_499, 1), (5_003, 3)] {
            let mut seen = Vec::new();
            for numbers in slices(count, boards) {
                assert!(numbers.len() as u64 <= SLICE && numbers.iter().all(|n| n % boards == numbers[0] % boards));
                seen.extend(numbers);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..count).collect::<Vec<_>>());
        }
    }
}
