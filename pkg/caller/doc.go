// Package caller says on whose behalf a call runs and what the edge knows of its HTTP request.
//
// The gateway authenticates an API key and sends the principal and the request as binary gRPC
// metadata. A service reads them from its context; it believes them because of who its peer is,
// which the server's builder (package rpc) decides.
package caller
