// Package delivery measures how fast a change comes out of the platform: from the commit to the feed and to the
// receivers of webhooks, with endpoints that are dead or slow beside them, and from a standing backlog.
//
// Changes are made by the clock, whether or not earlier ones have been answered: on the way to the feed orders at the
// orders service, else rows of its outbox. A latency begins at the record of the change (from-record), which is before its
// commit, when the caller had the answer (from-answer), which is after it, or when the clock said that the change was due
// (from-due), which leaves out no wait: neither for the call to begin nor for its record. Each benchmark starts the platform
// on the servers that `make test` names and is run by `go test -run '^$' -bench NAME ./deploy/bench/delivery`.
package delivery
