//! The command program: takes deposits and withdrawals. Account, ledger and event commit in one transaction; afterwards the
//! relay is told, and if nobody hears it, finds the event by polling.

mod hand_over;
pub(crate) mod routes;
mod store;

use std::net::SocketAddr;
use std::sync::Arc;

use madang_engine_mysql::{Lanes, Mysql};
use madang_messaging::Supervisor;

use super::crash::CrashPoints;
use super::secret::SecretSettings;
use super::settings::MysqlSettings;
use super::{database, http};
use crate::domain::AccountBalanceChanged;
use store::Moves;

/// How the program is started.
#[derive(Debug, Clone, clap::Args)]
pub struct CommandSettings {
    /// Where to listen.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    /// The start of the names of databases.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
    /// Where relays hear of what was committed: `http://host:port`, separated by commas. Without one they poll.
    #[arg(long, env = "LAB_RELAYS", value_delimiter = ',')]
    relays: Vec<String>,
    #[command(flatten)]
    secret: SecretSettings,
}

/// The program's parts.
#[derive(Clone)]
struct Commands {
    db: Mysql<AccountBalanceChanged>,
    lanes: Lanes<Moves>,
}

/// Runs it.
pub async fn run(settings: CommandSettings) -> anyhow::Result<()> {
    let crash = CrashPoints::from_environment()?;
    let db = database::accounts(&settings.mysql.options(&settings.prefix)).await?;
    let tasks = Supervisor::new("command");
    let notice = hand_over::RelayNotice::start(settings.relays, settings.secret.secret, crash.clone(), &tasks);
    db.after_commit(Arc::new(notice));
    let lanes = Lanes::start(&db, Moves::new(crash));
    http::serve(settings.listen, routes::router(Commands { db: db.clone(), lanes })).await?;
    db.close().await;
    tasks.shutdown(std::time::Duration::from_secs(5)).await;
    Ok(())
}
