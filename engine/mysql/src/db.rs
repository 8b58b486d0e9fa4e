//! The databases of a program that commits events: opened, followed and closed as one.

use std::convert::Infallible;
use std::ops::Deref;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::join_all;
use madang_kernel::Clock;
use madang_messaging::{AfterCommit, HandOver, OnError, Supervisor};

use crate::databases::Databases;
use crate::followers::Followers;
use crate::open::{OpenError, SetUp};
use crate::{Database, MysqlOptions, health, tls};

/// One database on all its servers, whose changes are events of type `E`. Clones share everything; what reads and writes
/// without events is in [`Databases`].
pub struct Mysql<E> {
    databases: Databases,
    followers: Followers<E>,
}

impl<E> Clone for Mysql<E> {
    fn clone(&self) -> Self {
        Self { databases: self.databases.clone(), followers: self.followers.clone() }
    }
}

impl<E> Deref for Mysql<E> {
    type Target = Databases;

    fn deref(&self) -> &Databases {
        &self.databases
    }
}

impl<E> Mysql<E> {
    /// Opens `database` on every server, creates and migrates it where needed, and compares its topology with the
    /// configured one. The shards of a server that cannot be reached are unavailable until it has come and been set up; one
    /// that turns out to belong to another topology then stays unavailable, and the log says so.
    pub async fn open(
        options: &MysqlOptions,
        database: impl Into<Database>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let (database, map) = (database.into(), options.shard_map()?);
        tls::is_possible(options)?;
        let set_ups = (0..options.servers.len()).map(|index| SetUp::new(options, &database, &map, index));
        let set_ups: Vec<SetUp> = set_ups.collect::<Result<_, _>>()?;
        // All of them are tried, so that a start refuses for the same reason each time.
        let are_there = join_all(set_ups.iter().map(SetUp::at_start)).await;
        let are_there: Vec<bool> = are_there.into_iter().collect::<Result<_, _>>()?;
        let supervisor = Supervisor::new(database.name());
        for (set_up, is_there) in set_ups.iter().zip(are_there) {
            let server = Arc::clone(set_up.server());
            supervisor.spawn("watch a server", OnError::Restart, move |stop| {
                health::watch_server(Arc::clone(&server), stop).map(Ok::<_, Infallible>)
            });
            if !is_there {
                let set_up = set_up.clone();
                supervisor.spawn("set up a server", OnError::Restart, move |stop| {
                    set_up.clone().once_it_is_there(stop).map(Ok::<_, Infallible>)
                });
            }
        }
        let servers = set_ups.iter().map(|set_up| Arc::clone(set_up.server())).collect();
        let databases = Databases::new(database, options.clone(), map, servers, clock, supervisor);
        Ok(Self { databases, followers: Followers::default() })
    }

    /// Hands the messages of every commit to the relay of this database, at once and before anybody else learns of it.
    pub fn hand_over_to(&self, relay: HandOver) {
        self.followers.set_relay(relay);
    }

    /// Lets `follower` learn of the events of every commit, in commit order. Callers are answered after it; the next batch
    /// of their lane does not wait.
    pub fn after_commit(&self, follower: Arc<dyn AfterCommit<E>>) {
        self.followers.set_follower(follower);
    }

    /// Takes no more calls, commits those that wait, and closes every connection.
    pub async fn close(&self) {
        self.databases.close().await;
    }

    pub(crate) fn followers(&self) -> &Followers<E> {
        &self.followers
    }
}
