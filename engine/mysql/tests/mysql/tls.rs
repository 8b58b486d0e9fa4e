//! Encrypted connections, on a server with a certificate of its own: `MADANG_TEST_MYSQL_TLS` is its URL and
//! `MADANG_TEST_MYSQL_CA` the file with the authority that signed it. The stack has none; the feature
//! `mysql-tls` asks for this test, and whoever turns it on names both.

use std::sync::Arc;

use madang_engine_mysql::{MysqlOptions, OpenError, ServerOptions, TlsOptions};
use madang_kernel::{ManualClock, Timestamp};

use crate::program::{self, Mysql};
use crate::support::servers;

fn options(url: &str, tls: Option<TlsOptions>) -> MysqlOptions {
    let mut options = MysqlOptions::new(vec![ServerOptions { url: url.to_owned(), shards: "0-63".to_owned() }]);
    options.database_prefix = format!("t{:016x}", rand::random::<u64>());
    options.tls = tls;
    options
}

async fn open(options: &MysqlOptions) -> Result<Mysql, OpenError> {
    Mysql::open(options, program::tallies(), Arc::new(ManualClock::at(Timestamp::from_millis(1)))).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_encrypted_is_refused_before_it_is_sent() {
    let url = &servers()[0];
    let missing = TlsOptions { ca_file: Some("/nowhere/ca.pem".into()), ..TlsOptions::default() };
    let refused = open(&options(url, Some(missing))).await.err().unwrap();
    assert!(matches!(refused, OpenError::Tls(_)), "{refused}");
    if cfg!(not(feature = "mysql-tls")) {
        let refused = open(&options(url, Some(TlsOptions::default()))).await.err().unwrap();
        assert!(refused.to_string().contains("mysql-tls"), "{refused}");
    }
}

#[cfg(feature = "mysql-tls")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_used_if_its_certificate_is_trusted_and_not_otherwise() {
    use madang_kernel::StoreError;

    let url = madang_test_servers::variable("MADANG_TEST_MYSQL_TLS");
    let ca = madang_test_servers::variable("MADANG_TEST_MYSQL_CA");
    let find = async |db: &Mysql| db.sizes().await;
    let trusting = options(&url, Some(TlsOptions { ca_file: Some(ca.into()), ..TlsOptions::default() }));
    let db = open(&trusting).await.unwrap();
    find(&db).await.unwrap();
    db.close().await;
    // The authorities that everybody trusts did not sign it.
    let db = open(&options(&url, Some(TlsOptions::default()))).await.unwrap();
    let refused = find(&db).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    db.close().await;
    // Nor is it the server that we look for.
    let name = Some("another.example".to_owned());
    let tls = TlsOptions { server_name: name, ..trusting.tls.clone().unwrap() };
    let db = open(&MysqlOptions { tls: Some(tls), ..trusting }).await.unwrap();
    let refused = find(&db).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    db.close().await;
}
