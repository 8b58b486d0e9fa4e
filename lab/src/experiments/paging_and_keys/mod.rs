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
use crate::{Bar, Chart, Experiment, Finding, Lab, Series, Side, Wiring};
use keys::{Cost, Key};

/// Articles of a page.
const PAGE: u64 = 30;
/// What takes longer is a violation.
const BOUND: Duration = Duration::from_millis(50);
/// Each question is asked so often, and the quickest answer counts: the machine does other things too.
const ASKED: u32 = 2;
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
    slow: u64,
    wrong: u64,
    took: Durations,
}

impl Asked {
    fn note(&mut self, took: Duration, is_right: bool) {
        self.asked += 1;
        self.slow += u64::from(took > BOUND);
        self.wrong += u64::from(!is_right);
        self.took.note(took);
    }

    fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.slow += other.slow;
        self.wrong += other.wrong;
        self.took.add(&other.took);
    }

    fn side(&self) -> Side {
        Side::new(self.asked, self.slow + self.wrong)
            .with("slow", number(self.slow))
            .with("wrong", number(self.wrong))
            .with("median_ms", self.took.median_ms())
            .with("max_ms", self.took.max_ms())
    }
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
        "A trial is a page of 30 at some depth, or a count; a violation is one whose quickest of two answers takes more \
         than 50 ms, or is wrong."
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
        let expected = rows::expected(count, skip, PAGE);
        let mut quickest = Duration::MAX;
        let mut is_right = true;
        for _ in 0..ASKED {
            let began = Instant::now();
            let found = paging.page(conn, skip).await?;
            quickest = quickest.min(began.elapsed());
            is_right &= found == expected;
        }
        self.note(quickest, is_right);
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
        let (mut quickest, mut is_right) = (Duration::MAX, true);
        for _ in 0..ASKED {
            let began = Instant::now();
            let (found, right) = match number {
                0 => (naive::count(conn).await?, count),
                1 => (protected::limited_count(conn).await?, (PAGE * 10 + 1).min(count)),
                _ => (protected::counter(conn).await?, count),
            };
            quickest = quickest.min(began.elapsed());
            is_right &= found == right;
        }
        asked.note(quickest, is_right);
    }
    Ok(counts)
}

fn finding(count: u64, filled: Duration, pages: &Pages, anywhere: &Asked, counts: &Counts, costs: &[Cost]) -> Finding {
    let (mut off, mut on) = (Asked::default(), anywhere.clone());
    for (paging, _, asked) in pages {
        if *paging == Paging::Blocks { on.add(asked) } else { off.add(asked) }
    }
    for (_, protected, asked) in counts {
        if *protected { on.add(asked) } else { off.add(asked) }
    }
    let (mut off, mut on) = (off.side(), on.side().with("anywhere_p99_ms", anywhere.took.p99_ms()));
    for cost in costs {
        let name = cost.key.name().to_lowercase().replace('-', "_");
        let (rate, size) = (per_second(cost.rows, cost.took).round(), (number(cost.bytes) / number(cost.rows)).round());
        let side = if cost.key == Key::UuidV4 { &mut off } else { &mut on };
        side.figures.insert(format!("insert_{name}_per_s"), rate);
        side.figures.insert(format!("row_{name}_bytes"), size);
    }
    let mut finding = Finding::new(off, on);
    finding.charts =
        vec![depth_chart(count, pages), counts_chart(count, counts), rates_chart(costs), sizes_chart(costs)];
    finding.notes.push(format!(
        "{count} rows of one board, made by the server in {:.0} s; each page was compared with the rows it must hold.",
        filled.as_secs_f64()
    ));
    finding.notes.extend(sizes_note(costs));
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

fn depth_chart(count: u64, pages: &Pages) -> Chart {
    let series = Paging::ALL.map(|paging| Series {
        label: paging.name().to_owned(),
        points: pages
            .iter()
            .filter(|(of, ..)| *of == paging)
            .map(|(_, skip, asked)| (number(*skip), asked.took.max_ms()))
            .collect(),
        protected: paging == Paging::Blocks,
    });
    let title = format!("A page of {PAGE} in {count} rows");
    Chart::Lines { title, x: "rows before the page", y: "ms", logarithmic: true, series: series.to_vec() }
}

fn counts_chart(count: u64, counts: &Counts) -> Chart {
    let bars = counts.iter().map(|(name, protected, asked)| Bar {
        label: (*name).to_owned(),
        value: asked.took.max_ms(),
        protected: *protected,
    });
    let title = format!("How many of {count} rows there are");
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
    fn an_answer_past_the_bound_or_wrong_is_a_violation() {
        let mut asked = Asked::default();
        asked.note(BOUND, true);
        asked.note(BOUND + Duration::from_millis(1), true);
        asked.note(Duration::from_millis(1), false);
        let side = asked.side();
        assert_eq!((side.trials, side.violations), (3, 2));
    }
}
