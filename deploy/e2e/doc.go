// Package e2e tests what only a platform of its own shows: the way of an order through all services, crashes, traces, metrics,
// what is in the databases and logs, the SQL of the runbooks and the commands of the documentation. What the API requires
// is checked by package conformance.
//
// The platform runs on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and GIFTING_TEST_KAFKA_BROKERS name.
// Without brokers it runs its embedded one.
//
// For the test behind the build tag faults, GIFTING_TEST_SEED repeats the choices of a run and GIFTING_TEST_BATCHES sets the
// number of batches.
package e2e
