// Package e2e has the tests that need their own platform: an order through all services, crashes, traces, metrics, the contents
// of databases and logs, the SQL of the runbooks and the commands of the documentation. Package conformance checks the
// requirements of the API.
//
// The platform runs on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and GIFTING_TEST_KAFKA_BROKERS name.
// Without GIFTING_TEST_KAFKA_BROKERS the platform runs its embedded Kafka broker.
package e2e
