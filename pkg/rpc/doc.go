// Package rpc builds the platform's gRPC servers and clients: one place for the order of
// interceptors, limits, deadlines, health, reflection and the graceful end.
//
// A server's interceptors run in this order: observation, which sees what is answered, recovery, gate
// (who may call what), errors (so that a panic is rendered like any other error), deadline, caller. A
// client turns every failed call into an error that carries a *problem.Error.
//
// Calls are secured by mutual TLS (package identity), and the file callers.go is the list of who may
// call what. A process without certificate files speaks plain text, on loopback addresses only, and
// there every caller may call everything.
//
// A client spreads its calls over all instances of a service (type instances), and an instance that
// is stopped loses none: it says that it is not ready, takes calls for LameDuck, then lets its
// clients go and finishes what runs. What a process that died cuts off is repeated on another one.
package rpc
