//! Members on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_conformance::member_store::MemberStoreHarness;
use madang_member::MemberStore;
use madang_mysql::{MysqlMembers, Service};

use crate::support::{TestDb, Topology};

struct Harness<T> {
    _test: TestDb,
    members: MysqlMembers,
    topology: PhantomData<T>,
}

impl<T: Topology> MemberStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Member).await;
        let members = MysqlMembers::new(test.db.clone());
        Self { _test: test, members, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn MemberStore> {
        Arc::new(self.members.clone())
    }
}

on_one_and_two_servers!(madang_conformance::member_store_suite, Harness);
