// Package e2e tests the platform as integrators see it: a whole stack, over HTTP, from an order to its webhook. The
// stack runs on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and GIFTING_TEST_KAFKA_BROKERS name;
// without brokers it runs its embedded one.
//
// Of the tests behind the build tag faults, GIFTING_TEST_SEED repeats the choices, GIFTING_TEST_ROUNDS and
// GIFTING_TEST_SECONDS say how long they go on, and GIFTING_TEST_LOG_DIR keeps the logs of the services.
package e2e
