// Package rpc builds the platform's gRPC servers and clients: one place for the order of
// interceptors, limits, deadlines, health, reflection and the graceful end.
//
// A server's interceptors run in this order: recovery first, then errors (so that a panic is
// rendered like any fault), deadline, caller. A client turns every failed call into an error that
// carries a *problem.Error.
package rpc
