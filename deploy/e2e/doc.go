// Package e2e tests the platform as integrators see it: a whole stack, over HTTP, from an order to its webhook. The
// stack runs on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and GIFTING_TEST_KAFKA_BROKERS name;
// without brokers it runs its embedded one.
//
// Of the test behind the build tag faults, GIFTING_TEST_SEED repeats the choices and GIFTING_TEST_ROUNDS says how many
// rounds there are.
//
// TestPlatform, and with it a test for every promise of conformance/promises.txt, also holds a platform that runs already
// to them: the one whose variables, those of demo.env, are in the environment. It needs GIFTING_URL, GIFTING_CA with the
// certificates of the callers beside it, and GIFTING_GRPC_TENANTS, _CATALOG, _ORDERS, _LINKS and _WEBHOOK. Without
// GIFTING_KEY it places the demo first and makes keys that it revokes again; without GIFTING_INBOX_URL it leaves out
// webhooks. What only a stack of this process shows, such as its databases, is skipped. The output of such a run ends with
// the promises that were not checked, which go test shows of a package that passes only when started in its folder, or
// with -v. Tenants that it makes stay.
package e2e
