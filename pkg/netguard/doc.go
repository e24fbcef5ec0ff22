// Package netguard makes the HTTP client for addresses that partners choose, so that a request can only go to the
// public internet and never into the platform's own network.
//
// The guard that counts is in the dialler: it looks at the IP address that is about to be connected to, after every
// name has been resolved, so a name that resolves to one address when it is checked and to another when it is used
// gains nothing. An address is reached only if it lies in no range of the table in this package. [CheckURL] looks at
// the text of a URL so that a partner learns early what cannot work; it is no protection by itself.
//
// The client follows no redirect, uses no proxy, speaks TLS 1.2 or later, keeps the body as it was sent (no
// decompression) and bounds headers and time. Callers bound what they read of a body.
package netguard
