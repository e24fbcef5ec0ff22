// Package conformance checks the requirements of the API from outside: over REST, and over gRPC where people act.
//
// requirements.txt has every requirement with its id, by section:
//
//	# section | title
//	ORD-3 the version is 0 at first and grows with every change
//	    as CON-1 CON-2
//	    in services/orders/internal/rules TestOpeningHours
//
// A check names the requirement that it shows: requirement(t, "ORD-3", …). TestPlatform fails at its end if a requirement was
// not shown. "as" says that other requirements together say the same. "in" names tests of other packages for what cannot be
// seen from outside.
//
// TestPlatform starts a platform of its own, on the servers that GIFTING_TEST_POSTGRES_URL, GIFTING_TEST_REDIS_URL and
// GIFTING_TEST_KAFKA_BROKERS name. `make conformance` runs it against a platform that runs already. That needs the variables
// of demo.env: GIFTING_URL, GIFTING_CA with the certificates of the callers beside it, GIFTING_GRPC_TENANTS, _CATALOG,
// _ORDERS, _LINKS and _WEBHOOK. Without GIFTING_INBOX_URL, what arrives by webhook is not checked. The run prints the
// requirements that it could not check there. The tenants and gifts that it makes stay; its keys are revoked.
package conformance
