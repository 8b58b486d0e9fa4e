//! Reports and the log of moderation on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_conformance::moderation_store::ModerationStoreHarness;
use madang_member::{MemberStore, ModerationStore};
use madang_mysql::{MysqlMembers, MysqlModeration, Service};

use crate::support::{TestDb, Topology};

struct Harness<T> {
    test: TestDb,
    members: MysqlMembers,
    topology: PhantomData<T>,
}

impl<T: Topology> ModerationStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Member).await;
        let members = MysqlMembers::new(test.db.clone());
        Self { test, members, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn ModerationStore> {
        Arc::new(MysqlModeration::new(self.test.db.clone()))
    }

    fn members(&self) -> Arc<dyn MemberStore> {
        Arc::new(self.members.clone())
    }
}

on_one_and_two_servers!(madang_conformance::moderation_store_suite, Harness);
