//! The two generations of the index, with the statements of each, and the state that says what they are for.

use madang_engine_sqlite::Statements as _;
use madang_kernel::StoreError;
use madang_search::Rebuild;
use rusqlite::{Connection, params};

const STATE: &str = include_str!("../../sql/search/state.sql");
const SET_STATE: &str = include_str!("../../sql/search/set_state.sql");

/// The statements that name the table of a generation.
pub(super) struct Sql {
    pub(super) insert_text: &'static str,
    pub(super) delete_text: &'static str,
    pub(super) newest: &'static str,
    pub(super) relevant: &'static str,
    pub(super) nth_newest: &'static str,
    pub(super) clear_data: &'static str,
    pub(super) clear_sizes: &'static str,
    pub(super) clear: &'static str,
}

const FIRST: Sql = Sql {
    insert_text: include_str!("../../sql/search/insert_text_0.sql"),
    delete_text: include_str!("../../sql/search/delete_text_0.sql"),
    newest: include_str!("../../sql/search/newest_0.sql"),
    relevant: include_str!("../../sql/search/relevant_0.sql"),
    nth_newest: include_str!("../../sql/search/nth_newest_0.sql"),
    clear_data: include_str!("../../sql/search/clear_data_0.sql"),
    clear_sizes: include_str!("../../sql/search/clear_sizes_0.sql"),
    clear: include_str!("../../sql/search/clear_0.sql"),
};

const SECOND: Sql = Sql {
    insert_text: include_str!("../../sql/search/insert_text_1.sql"),
    delete_text: include_str!("../../sql/search/delete_text_1.sql"),
    newest: include_str!("../../sql/search/newest_1.sql"),
    relevant: include_str!("../../sql/search/relevant_1.sql"),
    nth_newest: include_str!("../../sql/search/nth_newest_1.sql"),
    clear_data: include_str!("../../sql/search/clear_data_1.sql"),
    clear_sizes: include_str!("../../sql/search/clear_sizes_1.sql"),
    clear: include_str!("../../sql/search/clear_1.sql"),
};

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    First,
    Second,
}

/// Both.
pub(super) const BOTH: [Generation; 2] = [Generation::First, Generation::Second];

impl Generation {
    /// As columns hold it.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    fn of(number: i64) -> Self {
        if number == 0 { Self::First } else { Self::Second }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    pub(super) fn sql(self) -> &'static Sql {
        match self {
            Self::First => &FIRST,
            Self::Second => &SECOND,
        }
    }
}

/// What the generations are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// The one that is asked.
    pub(super) active: Generation,
    /// The one that a rebuild fills, which is the active one while there was none before it.
    pub(super) building: Option<Generation>,
    /// The number of the last rebuild that was begun.
    pub(super) number: u64,
    /// How far it has come.
    pub(super) cursor: Option<String>,
}

impl State {
    pub(super) fn read(tx: &Connection) -> Result<Self, StoreError> {
        tx.one(STATE, [], |row| {
            Ok(Self {
                active: Generation::of(row.get(0)?),
                building: row.get::<_, Option<i64>>(1)?.map(Generation::of),
                number: row.get(2)?,
                cursor: row.get(3)?,
            })
        })
    }

    pub(super) fn store(&self, tx: &Connection) -> Result<(), StoreError> {
        let building = self.building.map(Generation::number);
        tx.run(SET_STATE, params![self.active.number(), building, self.number, self.cursor]).map(|_| ())
    }

    /// The rebuild that is under way.
    pub(super) fn rebuild(&self) -> Option<Rebuild> {
        self.building.map(|_| Rebuild { number: self.number, cursor: self.cursor.clone() })
    }

    /// Those that changes go to.
    pub(super) fn changed(&self) -> impl Iterator<Item = Generation> {
        let building = self.building.filter(|building| *building != self.active);
        std::iter::once(self.active).chain(building)
    }
}
