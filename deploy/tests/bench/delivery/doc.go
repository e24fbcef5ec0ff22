// Package delivery measures how fast changes reach the feed and the receivers of webhooks: at fixed rates, while other
// endpoints are dead or slow, beside a backup, and from a backlog.
//
// Changes are made at fixed times, even if earlier ones have no response yet: for the feed as orders of the orders service, for
// AcceptedToReceiver as orders of the gateway, otherwise as rows of the outbox. A latency begins at one of three times. from-record
// is when the outbox row was inserted, before the commit. from-answer is when the caller had the response, after the commit.
// from-due is when the change was due, so it includes every wait before the record.
//
// Each benchmark starts the platform on the servers that `make test` names; run it with
// `go test -run '^$' -bench NAME ./deploy/tests/bench/delivery`.
package delivery
