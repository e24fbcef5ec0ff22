// Package e2e tests the platform as integrators see it: a whole stack, over HTTP, from an order to its webhook. The
// stack runs on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and GIFTING_TEST_KAFKA_BROKERS name;
// without brokers it runs its embedded one.
package e2e
