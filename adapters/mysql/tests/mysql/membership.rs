//! Membership on MySQL keeps the port's promises.

use std::marker::PhantomData;
use std::time::Duration;

use crate::support::{TestDb, Topology};
use madang_conformance::membership::MembershipHarness;
use madang_messaging::Membership;
use madang_mysql::{MysqlMembership, Service};

struct Harness<T> {
    test: TestDb,
    membership: MysqlMembership,
    topology: PhantomData<T>,
}

#[async_trait::async_trait]
impl<T: Topology> MembershipHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Member).await;
        let membership = MysqlMembership::new(test.db.clone());
        Self { test, membership, topology: PhantomData }
    }

    fn membership(&self) -> &dyn Membership {
        &self.membership
    }

    async fn pass(&self, span: Duration) {
        self.test.clock.advance(span);
    }
}

on_one_and_two_servers!(madang_conformance::membership_suite, Harness);
