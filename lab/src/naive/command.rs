//! Command programs that send events themselves: after COMMIT, where nothing remembers what is still to be sent; or before
//! it, where a slow broker holds the transaction open, and what was sent may then not happen.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post, put};
use madang_engine_kafka::KafkaLog;
use madang_kernel::{Clock as _, SystemClock};
use madang_messaging::{EventLog as _, ToMessage as _};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Pool, TxOpts};

use super::store;
use crate::domain::{AccountBalanceChanged, AccountId, Decision, Movement, Refusal};
use crate::programs::command::routes::{parse, rendered};
use crate::programs::crash::{CrashPoint, CrashPoints};
use crate::programs::http;
use crate::programs::problem::Problem;
use crate::programs::request::{AccountPath, JsonBody};
use crate::programs::settings::{KafkaSettings, MysqlSettings};

/// How the program is started.
#[derive(Debug, Clone, clap::Args)]
pub struct NaiveCommandSettings {
    /// Where to listen.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    #[command(flatten)]
    kafka: KafkaSettings,
    /// The start of the names of databases and topics.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
}

/// When the event is sent.
#[derive(Debug, Clone, Copy)]
pub enum Sends {
    /// Once it is committed.
    AfterCommit,
    /// While the transaction is open.
    InTransaction,
}

#[derive(Clone)]
struct Commands {
    sends: Sends,
    pool: Pool,
    log: KafkaLog,
    crash: CrashPoints,
}

/// Runs it.
pub async fn run(settings: NaiveCommandSettings, sends: Sends) -> anyhow::Result<()> {
    let commands = Commands {
        sends,
        pool: store::pool(&settings.mysql.mysql, &format!("{}_accounts", settings.prefix))?,
        log: KafkaLog::open(settings.kafka.options(&settings.prefix))?,
        crash: CrashPoints::from_environment()?,
    };
    let router = Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/accounts/{id}", put(open))
        .route("/accounts/{id}/deposits", post(deposit))
        .route("/accounts/{id}/withdrawals", post(withdraw))
        .with_state(commands);
    http::serve(settings.listen, router).await
}

async fn open(State(commands): State<Commands>, AccountPath(account): AccountPath) -> Result<StatusCode, Problem> {
    commands.open(account).await.map_err(away)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn deposit(
    State(commands): State<Commands>,
    AccountPath(account): AccountPath,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let (tx_id, amount) = parse(&body)?;
    commands.execute(&Movement::deposit(tx_id, account, amount)).await
}

async fn withdraw(
    State(commands): State<Commands>,
    AccountPath(account): AccountPath,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let (tx_id, amount) = parse(&body)?;
    commands.execute(&Movement::withdrawal(tx_id, account, amount)).await
}

impl Commands {
    async fn open(&self, account: AccountId) -> anyhow::Result<()> {
        let mut conn = self.pool.get_conn().await?;
        let open = "INSERT IGNORE INTO account (account_id, balance, version, updated_at) VALUES (?, 0, 0, 0)";
        Ok(conn.exec_drop(open, (account.number(),)).await?)
    }

    async fn execute(&self, movement: &Movement) -> Result<Response, Problem> {
        let decided = match self.sends {
            Sends::AfterCommit => self.commit_and_send(movement).await,
            Sends::InTransaction => self.send_and_commit(movement).await,
        };
        match decided.map_err(away)?? {
            Decision::Entered(entry) => Ok(rendered(StatusCode::CREATED, &entry)),
            Decision::Repeated(entry) => Ok(rendered(StatusCode::OK, &entry)),
        }
    }

    async fn commit_and_send(&self, movement: &Movement) -> anyhow::Result<Result<Decision, Refusal>> {
        let now = SystemClock.now();
        let mut conn = self.pool.get_conn().await?;
        let mut tx = conn.start_transaction(TxOpts::default()).await?;
        let decided = store::enter(&mut tx, movement, now.as_millis()).await?;
        tx.commit().await?;
        if let Ok(Decision::Entered(entry)) = &decided {
            self.crash.pass(CrashPoint::AfterCommitBeforeSend);
            self.log.publish(&[AccountBalanceChanged::of(entry, now).to_message()]).await?;
            self.crash.pass(CrashPoint::AfterCommitBeforeAnswer);
        }
        Ok(decided)
    }

    async fn send_and_commit(&self, movement: &Movement) -> anyhow::Result<Result<Decision, Refusal>> {
        let now = SystemClock.now();
        let mut conn = self.pool.get_conn().await?;
        let mut tx = conn.start_transaction(TxOpts::default()).await?;
        let decided = store::enter(&mut tx, movement, now.as_millis()).await?;
        if let Ok(Decision::Entered(entry)) = &decided {
            self.log.publish(&[AccountBalanceChanged::of(entry, now).to_message()]).await?;
            self.crash.pass(CrashPoint::BeforeCommit);
        }
        tx.commit().await?;
        Ok(decided)
    }
}

fn away(error: impl Into<anyhow::Error>) -> Problem {
    Problem::Unavailable(error.into().to_string())
}
