//! Why a shard did not move, and what to do about it.

use madang_kernel::ShardId;

use crate::errors::SqlError;
use crate::open::OpenError;

/// Why shards did not move. Whatever it is, nothing is lost: each shard is where it was, or where it was going.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// A server must take part, and does not answer.
    #[error(
        "server {server} ({address}) cannot be asked, and every server must learn where a shard is: {reason}; start it, then \
         run the command again"
    )]
    Unreachable {
        /// Its number.
        server: u8,
        /// Where it is.
        address: String,
        /// What came instead of an answer.
        reason: String,
    },
    /// No start has made the databases yet.
    #[error(
        "{database} does not exist on every server, or not with the tables of this version: start the cluster once"
    )]
    NoMap {
        /// The database.
        database: String,
    },
    /// The new owner is not one of the servers.
    #[error("there is no server {server}; `madang shards list` shows them, `madang shards add-server` adds one")]
    NoSuchServer {
        /// Its number.
        server: u8,
    },
    /// Another command is at work.
    #[error(
        "another `madang shards move` is at work on this cluster: wait for it, or end it; what it has begun is then finished by \
         running the same command again"
    )]
    Busy,
    /// Other moves are half done.
    #[error(
        "shards {} are on their way to server {target}: run `madang shards move {} --to {target}` first", listed(.shards, ", "),
        listed(.shards, " ")
    )]
    Unfinished {
        /// The shards.
        shards: Vec<ShardId>,
        /// Where they are going.
        target: u8,
    },
    /// The servers do not agree who owns a shard.
    #[error("the servers do not agree about shard {shard} of {database}: `madang shards status` says how")]
    Disagree {
        /// The database.
        database: String,
        /// The shard.
        shard: ShardId,
    },
    /// A table that cannot be moved.
    #[error(
        "{database} has the table {table}, which cannot be moved: {why}; upgrade every process to one version first"
    )]
    Table {
        /// The database.
        database: String,
        /// The table.
        table: String,
        /// What is wrong with it.
        why: String,
    },
    /// Two servers have different tables, or they have changed meanwhile.
    #[error(
        "the tables of {database} are not the same on both servers, or have just been migrated: start every process with one \
         version, then run the command again"
    )]
    OtherTables {
        /// The database.
        database: String,
    },
    /// Triggers are refused.
    #[error(
        "server {server} refuses the triggers that note what changes while a shard is copied: {reason}; grant TRIGGER on \
         {database}.* to our user, and where the binary log is on SUPER too, or SET GLOBAL log_bin_trust_function_creators = 1"
    )]
    NoTriggers {
        /// Its number.
        server: u8,
        /// The database.
        database: String,
        /// What it said.
        reason: String,
    },
    /// The copy is not what it should be.
    #[error(
        "{table} of shard {shard} of {database} differs between the two servers ({what}); nothing was switched, the shard is \
         served from where it was, and the next run copies it anew"
    )]
    Differs {
        /// The database.
        database: String,
        /// The shard.
        shard: ShardId,
        /// The table.
        table: String,
        /// Rows and checksums.
        what: String,
    },
    /// Another command goes on with it.
    #[error("another command has taken over the move of shard {shard}")]
    TakenOver {
        /// The shard.
        shard: ShardId,
    },
    /// The last changes could not be applied within the time that writers wait.
    #[error(
        "shard {shard} of {database} changes faster than server {target} takes it over: writes go on where they were; run the \
         command again when there is less to do"
    )]
    TooBusy {
        /// The database.
        database: String,
        /// The shard.
        shard: ShardId,
        /// Where it is going.
        target: u8,
    },
    /// A database cannot be named.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A statement failed.
    #[error("a server refused a statement; run the command again")]
    Sql(#[from] SqlError),
}

impl MoveError {
    /// Whether another try may do better, at once.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Sql(SqlError::Conflict(_) | SqlError::Unavailable(_)))
    }
}

impl From<mysql_async::Error> for MoveError {
    fn from(error: mysql_async::Error) -> Self {
        Self::Sql(error.into())
    }
}

fn listed(shards: &[ShardId], between: &str) -> String {
    let numbers: Vec<String> = shards.iter().map(ShardId::to_string).collect();
    numbers.join(between)
}
