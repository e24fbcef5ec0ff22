// Package idempotency runs a request at most once per API key and Idempotency-Key and replays its
// answer (API specification, section Limits).
//
// The answer commits in the transaction of the effect, so a crash at any point leaves both or
// neither. While a request runs, a second one under its key is refused at once: it never waits on
// a lock. Stored are the 2xx and every 409 and 422 the operation itself decided; any other fault
// leaves the key free. An operation's preparation runs outside the transaction and may run twice,
// so what it takes elsewhere must be keyed by Request.ReservationKey.
//
// Each service stores the answers to its own operations. That a key names one request over all of
// them is the work of the one Register.
package idempotency
