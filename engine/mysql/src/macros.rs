//! Transactions outside the lanes. Macros, because a function that takes what to do as an async closure yields a future that
//! the compiler does not know to be `Send`.

/// Runs `$body` in a read-only transaction of one moment on `$server`, again on another connection when one was lost.
/// Evaluates to a `Result<_, SqlError>`.
#[macro_export]
macro_rules! snapshot {
    ($server:expr, |$tx:ident| $body:expr) => {{
        let mut attempts_left = $server.read_attempts();
        loop {
            attempts_left -= 1;
            let server = &$server;
            let outcome = async {
                let mut conn = server.pooled().await?;
                let mut $tx = $crate::Tx::snapshot(&mut conn).await?;
                let found = $body.await?;
                $tx.commit().await?;
                Ok::<_, $crate::SqlError>(found)
            };
            match server.health().guard(outcome).await {
                Err(error) if attempts_left > 0 && error.is_unavailable() => {}
                outcome => break outcome,
            }
        }
    }};
}

/// Runs `$body` in a transaction, the whole of it again when another was in the way. The outcome of a lost COMMIT is not
/// known to the caller: only for what may happen twice, or what its own keys make happen once. Evaluates to a
/// `Result<_, SqlError>`.
///
/// `transact!(db, shard, |tx| …)` writes to one shard, wherever it is: by an old map the database refuses it, and it runs again
/// by the new one. `transact!(server, |tx| …)` is for the upkeep of one server.
#[macro_export]
macro_rules! transact {
    ($db:expr, $shard:expr, |$tx:ident| $body:expr) => {{
        let (mut retry, shard) = ($crate::Retry::new(), $shard);
        loop {
            let server = $db.server_of(shard);
            let outcome = async {
                let mut conn = server.pooled().await?;
                let mut $tx = $crate::Tx::begin(&mut conn).await?;
                let done = match $body.await {
                    Ok(done) => $tx.holds(&[shard]).await.map(|()| done),
                    Err(error) => Err(error),
                };
                match done {
                    Ok(done) => {
                        $tx.commit().await?;
                        Ok(done)
                    }
                    Err(error) => {
                        $tx.roll_back().await;
                        Err(error)
                    }
                }
            };
            match server.health().guard(outcome).await {
                Err(error) if retry.after_move(&error) && $db.is_writable_again(shard, &server).await => {}
                Err(error) if retry.again(&error).await => {}
                outcome => break outcome,
            }
        }
    }};
    ($server:expr, |$tx:ident| $body:expr) => {{
        let mut retry = $crate::Retry::new();
        loop {
            let server = &$server;
            let outcome = async {
                let mut conn = server.pooled().await?;
                let mut $tx = $crate::Tx::begin(&mut conn).await?;
                match $body.await {
                    Ok(done) => {
                        $tx.commit().await?;
                        Ok(done)
                    }
                    Err(error) => {
                        $tx.roll_back().await;
                        Err(error)
                    }
                }
            };
            match server.health().guard(outcome).await {
                Err(error) if retry.again(&error).await => {}
                outcome => break outcome,
            }
        }
    }};
}
