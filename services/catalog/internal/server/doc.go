// Package server answers the catalog's RPCs: it reads the request, asks the rules and the store,
// and writes the answer. One file per RPC.
package server
