// Package edge is the way of an API request through the gateway. A request goes down the steps of Handler.steps in pipeline.go,
// one after the other, each in the file of its name:
//
//	access          401, 429  package access: API key, rate limit
//	findOperation   404, 405  operation.go
//	checkScope      403       operation.go
//	checkAccept     406       negotiate.go
//	checkMediaType  415       negotiate.go
//	readBody        413       body.go
//	readKey         400       body.go: Idempotency-Key
//	readQuery       400       body.go: fingerprint of a POST, parameters of a GET
//	callService               service.go: JSON to gRPC and back
//
// The owning service decides the rest, beginning with the look-up of the Idempotency-Key. Because authentication comes first,
// an unauthenticated caller learns nothing about the paths.
package edge
