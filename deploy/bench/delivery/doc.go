// Package delivery measures how fast a change leaves the platform: from the commit to the feed and to the receivers of
// webhooks, beside endpoints that are dead or slow, and from a backlog.
//
// Changes are made by the clock, whether or not earlier ones have been answered: for the feed as orders at the orders
// service, otherwise as rows of its outbox. A latency begins at one of three times. from-record is when the outbox row was
// inserted, before the commit. from-answer is when the caller had the answer, after the commit. from-due is when the clock
// made the change due, so it includes every wait before the record. Each benchmark starts the platform on the servers that
// `make test` names; run it with `go test -run '^$' -bench NAME ./deploy/bench/delivery`.
package delivery
