//! `paging-and-keys`: what indexes cost on InnoDB, deep in a list and while rows are inserted.

mod keys;
mod naive;
mod protected;
mod rows;

use std::time::{Duration, Instant};

use async_trait::async_trait;
use mysql_async::Conn;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::durations::{Durations, number, per_second};
use crate::scratch::Scratch;
use crate::{Bar, Chart, Experiment, Finding, Lab, Series, Side, Variant, Wiring};
use keys::{Cost, Key};

/// Articles of a page.
const PAGE: u64 = 30;
/// A question for which the server reads more rows than this is a violation: more than two levels of blocks and one small block
/// hold, and far fewer than lie before a deep page. It does not depend on how busy the machine is.
const ROWS_MAX: u64 = 2_500;
/// How deep pages lie, in hundredths of all rows.
const DEPTHS: [u64; 5] = [0, 10, 40, 70, 98];

/// The experiment.
pub struct PagingAndKeys;

/// A way to find a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paging {
    Offset,
    Covering,
    Blocks,
}

impl Paging {
    const ALL: [Self; 3] = [Self::Offset, Self::Covering, Self::Blocks];

    fn name(self) -> &'static str {
        match self {
            Self::Offset => "OFFSET",
            Self::Covering => "covering sub-query",
            Self::Blocks => "counted blocks",
        }
    }

    async fn page(self, conn: &mut Conn, skip: u64) -> mysql_async::Result<Vec<i64>> {
        match self {
            Self::Offset => naive::offset(conn, skip).await,
            Self::Covering => naive::covering(conn, skip).await,
            Self::Blocks => protected::blocks(conn, skip).await,
        }
    }
}

/// Questions asked, and how they were answered.
#[derive(Debug, Clone, Default)]
struct Asked {
    asked: u64,
    /// Those for which the server read more rows than it may.
    costly: u64,
    wrong: u64,
    /// Those that were one or the other.
    violations: u64,
    rows_max: u64,
    took: Durations,
}

impl Asked {
    fn note(&mut self, answer: &Answer) {
        let is_costly = answer.rows > ROWS_MAX;
        self.asked += 1;
        self.costly += u64::from(is_costly);
        self.wrong += u64::from(!answer.is_right);
        self.violations += u64::from(is_costly || !answer.is_right);
        self.rows_max = self.rows_max.max(answer.rows);
        self.took.note(answer.took);
    }

    fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.costly += other.costly;
        self.wrong += other.wrong;
        self.violations += other.violations;
        self.rows_max = self.rows_max.max(other.rows_max);
        self.took.add(&other.took);
    }

    fn variant(&self, name: &str) -> Variant {
        Variant::new(name, self.asked, self.violations)
    }
}

/// How a question was answered.
#[derive(Debug, Clone, Copy)]
struct Answer {
    is_right: bool,
    /// Rows and entries of indexes that the server read for it.
    rows: u64,
    took: Duration,
}

#[async_trait]
impl Experiment for PagingAndKeys {
    fn id(&self) -> &'static str {
        "paging-and-keys"
    }

    fn question(&self) -> &'static str {
        "What do indexes cost on InnoDB, deep in a list and while rows are inserted?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a page of 30 at some depth, or a count; a violation is one for which the server read more than 2,500 rows or \
         entries of indexes (its own Handler_read counters), or that is wrong."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "skip and count",
                steps: &["ORDER BY id DESC", "✗ skip every row before", "30 rows"],
                code: "lab/src/experiments/paging_and_keys/naive.rs",
            },
            Wiring {
                name: "counted blocks",
                steps: &["large blocks", "small blocks", "skip less than one block", "30 rows"],
                code: "lab/src/experiments/paging_and_keys/protected.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let count = lab.scale.pick(300_000, 5_000_000);
        let scratch = Scratch::make(&lab.stack.mysql(2)?, "lab_paging").await?;
        let mut conn = scratch.connect().await?;
        lab.progress(format!("making {count} rows"));
        let began = Instant::now();
        rows::fill(&mut conn, count).await?;
        let filled = began.elapsed();
        let pages = pages(lab, &mut conn, count).await?;
        let anywhere = anywhere(lab, &mut conn, count, lab.scale.pick(100, 400)).await?;
        let counts = counts(&mut conn, count).await?;
        let mut costs = Vec::new();
        for key in Key::ALL {
            lab.progress(format!("inserting rows by {}", key.name()));
            costs.push(keys::insert(&mut conn, &scratch, key, lab.scale.pick(30_000, 300_000)).await?);
        }
        conn.disconnect().await?;
        scratch.drop().await?;
        Ok(finding(count, filled, &pages, &anywhere, &counts, &costs))
    }
}

/// A page by each way at each depth.
type Pages = Vec<(Paging, u64, Asked)>;

async fn pages(lab: &Lab, conn: &mut Conn, count: u64) -> anyhow::Result<Pages> {
    let mut pages = Vec::new();
    for depth in DEPTHS {
        let skip = count * depth / 100;
        for paging in Paging::ALL {
            lab.progress(format!("{} after {skip} rows", paging.name()));
            let mut asked = Asked::default();
            asked.page(conn, paging, count, skip).await?;
            pages.push((paging, skip, asked));
        }
    }
    Ok(pages)
}

/// Pages by blocks anywhere: a depth that was chosen may be a lucky one.
async fn anywhere(lab: &Lab, conn: &mut Conn, count: u64, pages: u32) -> anyhow::Result<Asked> {
    let mut chance = StdRng::seed_from_u64(lab.seed);
    let mut asked = Asked::default();
    lab.progress(format!("{pages} pages anywhere, by blocks"));
    for _ in 0..pages {
        asked.page(conn, Paging::Blocks, count, chance.random_range(0..count)).await?;
    }
    Ok(asked)
}

impl Asked {
    async fn page(&mut self, conn: &mut Conn, paging: Paging, count: u64, skip: u64) -> anyhow::Result<()> {
        let before = rows::read(conn).await?;
        let began = Instant::now();
        let found = paging.page(conn, skip).await?;
        let took = began.elapsed();
        let is_right = found == rows::expected(count, skip, PAGE);
        self.note(&Answer { is_right, rows: rows::read(conn).await? - before, took });
        Ok(())
    }
}

/// Ways to count, with what each took: name, whether it is protected, answer.
type Counts = Vec<(&'static str, bool, Asked)>;

async fn counts(conn: &mut Conn, count: u64) -> anyhow::Result<Counts> {
    let mut counts: Counts = vec![
        ("COUNT(*)", false, Asked::default()),
        ("count with a limit", true, Asked::default()),
        ("counter", true, Asked::default()),
    ];
    for (number, (_, _, asked)) in counts.iter_mut().enumerate() {
        let before = rows::read(conn).await?;
        let began = Instant::now();
        let (found, right) = match number {
            0 => (naive::count(conn).await?, count),
            1 => (protected::limited_count(conn).await?, (PAGE * 10 + 1).min(count)),
            _ => (protected::counter(conn).await?, count),
        };
        let took = began.elapsed();
        asked.note(&Answer { is_right: found == right, rows: rows::read(conn).await? - before, took });
    }
    Ok(counts)
}

/// A side: each way to page and to count by itself.
fn side(ways: &[(&str, Asked)]) -> Side {
    let mut all = Asked::default();
    ways.iter().for_each(|(_, asked)| all.add(asked));
    Side::of(ways.iter().map(|(name, asked)| asked.variant(name)).collect())
        .with("costly", number(all.costly))
        .with("wrong", number(all.wrong))
        .with("rows_read_max", number(all.rows_max))
        .with("median_ms", all.took.median_ms())
        .with("max_ms", all.took.max_ms())
}

fn finding(count: u64, filled: Duration, pages: &Pages, anywhere: &Asked, counts: &Counts, costs: &[Cost]) -> Finding {
    let of = |paging: Paging| {
        let mut sum = Asked::default();
        pages.iter().filter(|(of, ..)| *of == paging).for_each(|(_, _, asked)| sum.add(asked));
        (paging.name(), sum)
    };
    let counted = |protected: bool| {
        let of_side = counts.iter().filter(move |(_, of, _)| *of == protected);
        of_side.map(|(name, _, asked)| (*name, asked.clone()))
    };
    let naive: Vec<_> = [of(Paging::Offset), of(Paging::Covering)].into_iter().chain(counted(false)).collect();
    let protected = [of(Paging::Blocks), ("counted blocks, anywhere", anywhere.clone())];
    let protected: Vec<_> = protected.into_iter().chain(counted(true)).collect();
    let (mut off, mut on) = (side(&naive), side(&protected).with("anywhere_p99_ms", anywhere.took.p99_ms()));
    for cost in costs {
        let name = cost.key.name().to_lowercase().replace('-', "_");
        let (rate, size) = (per_second(cost.rows, cost.took).round(), (number(cost.bytes) / number(cost.rows)).round());
        let side = if cost.key == Key::UuidV4 { &mut off } else { &mut on };
        side.figures.insert(format!("insert_{name}_per_s"), rate);
        side.figures.insert(format!("row_{name}_bytes"), size);
    }
    let mut finding = Finding::new(off, on);
    finding.charts = vec![
        rows_chart(count, pages),
        depth_chart(count, pages),
        counts_chart(count, counts),
        rates_chart(costs),
        sizes_chart(costs),
    ];
    finding.notes.push(format!(
        "{count} rows of one board, made by the server in {:.0} s; each page was compared with the rows it must hold.",
        filled.as_secs_f64()
    ));
    finding.notes.extend(sizes_note(costs));
    finding.notes.push(
        "Times are those of one question each and depend on the machine; the verdict does not. Keys are measured beside it and \
         are no trials."
            .to_owned(),
    );
    finding
}

/// What keys of chance cost against keys of the same size that rise, as it was measured.
fn sizes_note(costs: &[Cost]) -> Option<String> {
    let of = |key| costs.iter().find(|cost| cost.key == key);
    let (rising, random) = (of(Key::UuidV7)?, of(Key::UuidV4)?);
    Some(format!(
        "Keys that rise fill pages one after another; keys of chance split pages everywhere. Here UUIDv4 took {:.2} times the \
         space of UUIDv7 (whose keys of one millisecond are numbered), and {:.2} times as long to insert; the table fits into \
         memory, so the pages of chance were never read from disk.",
        number(random.bytes) / number(rising.bytes).max(1.0),
        random.took.as_secs_f64() / rising.took.as_secs_f64().max(f64::MIN_POSITIVE)
    ))
}

/// Something of each way to page, by depth.
fn by_depth(title: String, y: &'static str, pages: &Pages, value: fn(&Asked) -> f64) -> Chart {
    let series = Paging::ALL.map(|paging| Series {
        label: paging.name().to_owned(),
        points: pages
            .iter()
            .filter(|(of, ..)| *of == paging)
            .map(|(_, skip, asked)| (number(*skip), value(asked)))
            .collect(),
        protected: paging == Paging::Blocks,
    });
    Chart::Lines { title, x: "rows before the page", y, logarithmic: true, series: series.to_vec() }
}

fn rows_chart(count: u64, pages: &Pages) -> Chart {
    let title = format!("Rows that the server reads for a page of {PAGE} in {count}");
    by_depth(title, "rows read", pages, |asked| number(asked.rows_max))
}

fn depth_chart(count: u64, pages: &Pages) -> Chart {
    by_depth(format!("How long a page of {PAGE} in {count} rows takes"), "ms", pages, |asked| asked.took.max_ms())
}

fn counts_chart(count: u64, counts: &Counts) -> Chart {
    let bars = counts.iter().map(|(name, protected, asked)| Bar {
        label: (*name).to_owned(),
        value: asked.took.max_ms(),
        protected: *protected,
    });
    let title = format!("How long it takes to count {count} rows");
    Chart::Bars { title, unit: "ms", logarithmic: true, bars: bars.collect() }
}

fn key_chart(title: &str, unit: &'static str, costs: &[Cost], value: fn(&Cost) -> f64) -> Chart {
    let bars = costs.iter().map(|cost| Bar {
        label: cost.key.name().to_owned(),
        value: value(cost),
        protected: cost.key != Key::UuidV4,
    });
    Chart::Bars { title: title.to_owned(), unit, logarithmic: false, bars: bars.collect() }
}

fn rates_chart(costs: &[Cost]) -> Chart {
    key_chart("Rows inserted, by primary key", "per second", costs, |cost| per_second(cost.rows, cost.took))
}

fn sizes_chart(costs: &[Cost]) -> Chart {
    key_chart("A row on disk, by primary key", "bytes", costs, |cost| number(cost.bytes) / number(cost.rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_reads_too_much_or_is_wrong_is_one_violation() {
        let mut asked = Asked::default();
        let mut note = |rows, is_right| asked.note(&Answer { is_right, rows, took: Duration::from_millis(1) });
        note(ROWS_MAX, true);
        note(ROWS_MAX + 1, true);
        note(ROWS_MAX + 1, false);
        note(1, false);
        assert_eq!((asked.costly, asked.wrong), (2, 2));
        let found = side(&[("OFFSET", asked)]);
        assert_eq!((found.trials, found.violations, found.variants.len()), (4, 3, 1));
    }
}
