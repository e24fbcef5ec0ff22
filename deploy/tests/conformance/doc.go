// Package conformance checks the requirements of the API from outside: over REST, and over gRPC for operations of people.
//
// requirements.txt has every requirement with its id, by section:
//
//	# section | title
//	ORD-3 the version is 0 at first and grows with every change
//	    as CON-1 CON-2
//	    in services/orders/internal/rules TestOpeningHours
//
// A check names the requirement that it shows: requirement(t, "ORD-3", …). TestPlatform fails at its end if a requirement was
// not shown. "as" lists requirements that together cover it. "in" lists tests of other packages, for requirements that cannot
// be checked from outside.
//
// TestPlatform starts its own platform, on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and
// GIFTING_TEST_KAFKA_BROKERS name. `make conformance` runs it against a running platform. That needs the variables of demo.env:
// GIFTING_URL, GIFTING_CA with the certificates of the callers beside it, GIFTING_GRPC_TENANTS, _CATALOG, _ORDERS, _LINKS and
// _WEBHOOK. Without GIFTING_INBOX_URL, webhooks are not checked. The run prints the requirements that it could not check. The
// tenants and gifts that it makes are kept; its keys are revoked.
package conformance
