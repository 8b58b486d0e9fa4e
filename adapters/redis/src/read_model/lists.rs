//! Calls about lists of boards, one key a board, and what their answers mean.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use madang_article_read::{
    ABSENT_TTL_MS, BoardChange, BoardList, ENTRY_TTL_MS, Filled, FilledList, Freshness, LEASE_MS, LIST_MAX, ListLookup,
    NewestArticles, Presence, Reservation, Step, WholeList, Window, freshness,
};
use madang_board::{ArticleId, BoardId};
use madang_engine_redis::{Command, Failure, Redis, Script, Value, reply};
use madang_event::BoardCount;
use madang_kernel::{Id, Timestamp};

use super::articles::{ABSENT_KEY_TTL_MS, ENTRY_KEY_TTL_MS, PLACEHOLDER_TTL_MS, until};
use super::keys::{Keys, Kind};
use super::{ABANDON, LEASE, RESERVE};

/// Changes that may come while a list is rebuilt; past it, the rebuild starts anew.
const CHANGES_MAX: usize = 4_000;
/// A list that deletions have thinned out below this, and that does not reach the board's end, is worth a refresh.
const THIN: u64 = LIST_MAX as u64 / 2;
/// Changes in one script, so that no script runs long.
const SCRIPT_CHANGES_MAX: usize = 200;
/// Digits of an id in a list.
const WIDTH: usize = 16;

static MERGE: LazyLock<Script> = script!("read_model/common", "read_model/list", "read_model/merge_lists");
static FILL: LazyLock<Script> = script!("read_model/common", "read_model/list", "read_model/fill_list");
static WINDOW: LazyLock<Script> = script!("read_model/common", "read_model/list", "read_model/window");
static WHOLE: LazyLock<Script> = script!("read_model/common", "read_model/whole_list");
static HELD: LazyLock<Script> = script!("read_model/common", "read_model/list", "read_model/held_list");

/// What is held of a list.
pub(super) async fn held(redis: &Redis, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [keys.epoch(), keys.one(Kind::List, board)];
    let answer = redis.ask(Command::script(keys.tag, &HELD, &touched).arg(limit)).await?;
    let fields = match &answer {
        Value::Int(_) => return Ok(None),
        held => reply::items(held)?,
    };
    let [ids, floor, length, count, version] = fields else { return Err(Failure::reply("a list with other fields")) };
    let (ids, length) = (ids_of(ids)?, reply::count(length)?);
    let is_all = reply::text(floor)?.unwrap_or_default().is_empty() && ids.len() as u64 == length;
    let count = BoardCount { article_count: reply::count(count)?, version: reply::count(version)? };
    Ok(Some(NewestArticles { ids, is_all, count }))
}

/// The whole list, in its time.
pub(super) async fn whole(redis: &Redis, board: BoardId, now: Timestamp) -> Result<WholeList, Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [keys.epoch(), keys.one(Kind::List, board)];
    let answer = redis.ask(Command::script(keys.tag, &WHOLE, &touched)).await?;
    let fields = match &answer {
        Value::Int(_) => return Ok(WholeList::Miss),
        held => reply::items(held)?,
    };
    let until = |field: &Value| reply::millis(field).map(Timestamp::from_millis);
    match fields {
        [absent_until] => Ok(match freshness(until(absent_until)?, ABSENT_TTL_MS, now) {
            Freshness::Fresh => WholeList::Absent,
            Freshness::Stale | Freshness::Expired => WholeList::Miss,
        }),
        [found_until, ids, floor, count, version] => {
            let is_stale = match freshness(until(found_until)?, ENTRY_TTL_MS, now) {
                Freshness::Fresh => false,
                Freshness::Stale => true,
                Freshness::Expired => return Ok(WholeList::Miss),
            };
            let (ids, is_all) = (ids_of(ids)?, reply::text(floor)?.unwrap_or_default().is_empty());
            let count = BoardCount { article_count: reply::count(count)?, version: reply::count(version)? };
            let is_thin = !is_all && (ids.len() as u64) < THIN;
            Ok(WholeList::Found { newest: NewestArticles { ids, is_all, count }, is_stale: is_stale || is_thin })
        }
        _ => Err(Failure::reply("a list with other fields")),
    }
}

/// Looks at a window.
pub(super) async fn find(redis: &Redis, board: BoardId, window: Window, now: Timestamp) -> Result<ListLookup, Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [keys.epoch(), keys.one(Kind::List, board)];
    let command = Command::script(keys.tag, &WINDOW, &touched);
    let command = match window {
        Window::Page(page, size) => {
            // Past every list a page is as empty as past the last.
            command.arg("page").arg(page.offset(size).min(LIST_MAX as u64 + 1)).arg(size.get())
        }
        // One more than is shown tells that the list goes on.
        Window::Before(before, size) => {
            command.arg("before").arg(before.map(hex).unwrap_or_default()).arg(size.get() + 1)
        }
    };
    let answer = redis.ask(command).await?;
    let fields = match &answer {
        Value::Int(_) => return Ok(ListLookup::Miss),
        held => reply::items(held)?,
    };
    match fields {
        [until] => Ok(match freshness(Timestamp::from_millis(reply::millis(until)?), ABSENT_TTL_MS, now) {
            Freshness::Fresh => ListLookup::Absent,
            Freshness::Stale | Freshness::Expired => ListLookup::Miss,
        }),
        [until, floor, count, length, ids] => {
            let is_stale = match freshness(Timestamp::from_millis(reply::millis(until)?), ENTRY_TTL_MS, now) {
                Freshness::Fresh => false,
                Freshness::Stale => true,
                Freshness::Expired => return Ok(ListLookup::Miss),
            };
            let is_all = reply::text(floor)?.unwrap_or_default().is_empty();
            let length = reply::count(length)?;
            let step = step(window, is_all, length, ids_of(ids)?, reply::count(count)?);
            Ok(ListLookup::Found { step, is_stale: is_stale || (!is_all && length < THIN) })
        }
        _ => Err(Failure::reply("a list with other fields")),
    }
}

/// The same decisions as [`BoardList::look`], on a slice of the list.
fn step(window: Window, is_all: bool, length: u64, mut ids: Vec<ArticleId>, count: u64) -> Step {
    match window {
        Window::Page(page, size) => {
            let end = page.offset(size).min(length).saturating_add(u64::from(size.get()));
            if !is_all && end > length {
                return Step::Outside;
            }
            Step::Inside { ids, next: None, count }
        }
        Window::Before(_, size) => {
            let wanted = size.get() as usize;
            if ids.len() > wanted {
                ids.truncate(wanted);
                return Step::Inside { next: ids.last().copied(), ids, count };
            }
            if is_all { Step::Inside { ids, next: None, count } } else { Step::Outside }
        }
    }
}

/// Places a placeholder.
pub(super) async fn reserve(redis: &Redis, reservation: Reservation, board: BoardId) -> Result<(), Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [keys.epoch(), keys.index(Kind::ListPlaceholder), keys.one(Kind::ListPlaceholder, board)];
    let command =
        Command::script(keys.tag, &RESERVE, &touched).arg(reservation.0).arg(PLACEHOLDER_TTL_MS).arg(board.raw());
    redis.ask(command).await.map(drop)
}

/// Places a placeholder unless another process did a moment ago; `false` when one did.
pub(super) async fn lease(redis: &Redis, reservation: Reservation, board: BoardId) -> Result<bool, Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [keys.epoch(), keys.index(Kind::ListPlaceholder), keys.one(Kind::ListPlaceholder, board)];
    let command = Command::script(keys.tag, &LEASE, &touched)
        .arg(reservation.0)
        .arg(PLACEHOLDER_TTL_MS)
        .arg(LEASE_MS)
        .arg(board.raw());
    let answer = redis.ask(command).await?;
    Ok(reply::items(&answer)?.first() != Some(&Value::Int(0)))
}

/// Takes a placeholder away.
pub(super) async fn abandon(redis: &Redis, reservation: Reservation, board: BoardId) -> Result<(), Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [keys.index(Kind::ListPlaceholder), keys.one(Kind::ListPlaceholder, board)];
    redis.ask(Command::script(keys.tag, &ABANDON, &touched).arg(reservation.0).arg(board.raw())).await.map(drop)
}

/// Fills a placeholder.
pub(super) async fn fill(
    redis: &Redis,
    reservation: Reservation,
    board: BoardId,
    loaded: Option<NewestArticles>,
    now: Timestamp,
) -> Result<FilledList, Failure> {
    let keys = Keys::of_board(redis, board);
    let touched = [
        keys.epoch(),
        keys.index(Kind::List),
        keys.index(Kind::ListPlaceholder),
        keys.one(Kind::List, board),
        keys.one(Kind::ListPlaceholder, board),
    ];
    let (ttl_ms, key_ttl_ms) =
        if loaded.is_some() { (ENTRY_TTL_MS, ENTRY_KEY_TTL_MS) } else { (ABSENT_TTL_MS, ABSENT_KEY_TTL_MS) };
    let mut command = Command::script(keys.tag, &FILL, &touched)
        .arg(reservation.0)
        .arg(board.raw())
        .arg(u8::from(loaded.is_some()))
        .arg(until(now, ttl_ms))
        .arg(key_ttl_ms)
        .arg(ENTRY_KEY_TTL_MS)
        .arg(LIST_MAX);
    if let Some(newest) = loaded {
        let (ids, floor) = written(&newest);
        command = command.arg(ids).arg(floor).arg(newest.count.article_count).arg(newest.count.version);
    }
    match redis.ask(command).await? {
        Value::Int(0) => Ok(Filled::Retry),
        Value::Int(_) => Ok(Filled::Stored(None)),
        Value::Array(fields) => match &fields[..] {
            [ids, floor, count, version] => {
                let count = BoardCount { article_count: reply::count(count)?, version: reply::count(version)? };
                let is_all = reply::text(floor)?.unwrap_or_default().is_empty();
                Ok(Filled::Stored(Some(Arc::new(BoardList::of(NewestArticles { ids: ids_of(ids)?, is_all, count })))))
            }
            _ => Err(Failure::reply("a list with other fields")),
        },
        _ => Err(Failure::reply("no list")),
    }
}

/// The ids and the floor of a list that was loaded.
fn written(newest: &NewestArticles) -> (String, String) {
    let mut ids = newest.ids.clone();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.dedup();
    let is_cut = ids.len() > LIST_MAX;
    ids.truncate(LIST_MAX);
    let floor = match (newest.is_all && !is_cut, ids.last()) {
        (true, _) => String::new(),
        (false, Some(last)) => hex(*last),
        // A list of nothing that is not all covers nothing: its floor lies above every id.
        (false, None) => hex(ArticleId::from_raw(i64::MAX)),
    };
    (
        ids.into_iter().fold(String::new(), |mut all, id| {
            let _ = write!(all, "{:016x}", id.raw());
            all
        }),
        floor,
    )
}

/// What a candidate or an event says of a list.
pub(super) struct ListChange {
    pub(super) board: BoardId,
    pub(super) article: ArticleId,
    pub(super) presence: Presence,
    /// `None` when a candidate turned out to be gone.
    pub(super) count: Option<BoardCount>,
}

impl From<BoardChange> for ListChange {
    fn from(change: BoardChange) -> Self {
        let BoardChange { board_id, article_id, presence, count } = change;
        Self { board: board_id, article: article_id, presence, count: Some(count) }
    }
}

/// Merges changes, those of one board together and in order.
pub(super) async fn merge(redis: &Redis, changes: Vec<ListChange>) -> Result<(), Failure> {
    let mut boards: BTreeMap<(u8, BoardId), Vec<ListChange>> = BTreeMap::new();
    for change in changes {
        boards.entry((change.board.shard().number(), change.board)).or_default().push(change);
    }
    let commands = boards.iter().flat_map(|((_, board), changes)| {
        let slices = changes.chunks(SCRIPT_CHANGES_MAX);
        slices.map(|slice| merge_command(redis, *board, slice))
    });
    redis.run(commands.collect()).await.map(drop)
}

fn merge_command(redis: &Redis, board: BoardId, changes: &[ListChange]) -> Command {
    let keys = Keys::of_board(redis, board);
    let touched =
        [keys.epoch(), keys.index(Kind::List), keys.one(Kind::List, board), keys.one(Kind::ListPlaceholder, board)];
    let mut command =
        Command::script(keys.tag, &MERGE, &touched).arg(LIST_MAX).arg(CHANGES_MAX).arg(board.raw()).arg(changes.len());
    for change in changes {
        command.push(hex(change.article));
        command.push(match change.presence {
            Presence::There => "there",
            Presence::Gone => "gone",
            Presence::Back => "back",
        });
        match change.count {
            Some(BoardCount { article_count, version }) => {
                command.push(article_count);
                command.push(version);
            }
            None => ["", ""].iter().for_each(|empty| command.push(empty)),
        }
    }
    command
}

/// Sorts as the id does.
fn hex(article: ArticleId) -> String {
    format!("{:016x}", article.raw())
}

fn ids_of(value: &Value) -> Result<Vec<ArticleId>, Failure> {
    let ids = reply::text(value)?.unwrap_or_default();
    if ids.len() % WIDTH != 0 || !ids.is_ascii() {
        return Err(Failure::reply("ids that are cut off"));
    }
    let id = |at: usize| i64::from_str_radix(&ids[at..at + WIDTH], 16).map(ArticleId::from_raw);
    let found: Result<_, _> = (0..ids.len()).step_by(WIDTH).map(id).collect();
    found.map_err(|_| Failure::reply("ids that are no numbers"))
}
