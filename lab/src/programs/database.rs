//! The two databases: accounts with ledger and outbox, written by `command`; the projection, written by `consumer`.

use std::sync::Arc;

use madang_engine_mysql::{Database, Mysql, MysqlOptions, OpenError};
use madang_kernel::SystemClock;

mod accounts {
    refinery::embed_migrations!("migrations/accounts");
}
mod projection {
    refinery::embed_migrations!("migrations/projection");
}

/// Opens accounts, ledger and outbox: `<prefix>_accounts`.
pub async fn accounts<E>(options: &MysqlOptions) -> Result<Mysql<E>, OpenError> {
    let database = Database::new("accounts").with_migrations("schema_accounts", accounts::migrations::runner);
    Mysql::open(options, database, Arc::new(SystemClock)).await
}

/// Opens the projection: `<prefix>_projection`.
pub async fn projection<E>(options: &MysqlOptions) -> Result<Mysql<E>, OpenError> {
    let database = Database::new("projection").with_migrations("schema_projection", projection::migrations::runner);
    Mysql::open(options, database, Arc::new(SystemClock)).await
}
