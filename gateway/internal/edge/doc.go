// Package edge is the way of a request through the gateway. The checks run in a fixed order:
// authentication 401, limit 429, path and method 404 and 405, scope 403, Accept 406, media type
// 415, size 413, Idempotency-Key 400; what follows, from the idempotency look-up on, the owning
// service decides. An unauthenticated caller so learns nothing of the paths.
package edge
