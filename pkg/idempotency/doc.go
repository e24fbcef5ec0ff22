// Package idempotency runs a request at most once per API key and Idempotency-Key, and returns its stored answer to repetitions
// (API specification, section Limits). An operation uses one of these functions:
//
//   - Commit or Refuse when it decides before its transaction
//   - RunInTx when it decides from rows that it locks
//   - RunTx when a function of its store has the transaction, or repetitions get another answer
//   - RunExternal when its effect is outside the database
//
// The answer commits in the transaction of the effect, so a crash at any point leaves both or neither. While a request runs, a
// second one with its key is refused immediately: it never waits for a lock. Stored are every 2xx, and every 409 and 422 that the
// operation itself decided. After any other error the key is free. Only an API key that still reaches the record of an answer
// gets it again. What Commit gets was prepared outside the transaction, also for repetitions. So a preparation calls BeforeEffect
// before it has an effect in another service, and keys that effect by Request.ReservationKey.
//
// Each service stores the answers to its own operations. One Register for all services ensures that a key names only one
// request.
package idempotency
