// Package identity says who a process is and whom it talks to: mutual TLS between all parts of the platform.
//
// A part's name is the one URI SAN of its certificate, spiffe://<trust domain>/<name>. A
// server takes only clients whose certificate its authorities signed and that carry such a name; a
// client takes only the server it means: a certificate of catalog does not pass for orders. Host
// names are not looked at. What a name may do is not decided here.
//
// The files of certificate, key and authorities are read again after they have changed, without a restart, for every
// connection made from then on. New files that do not fit are left alone until they do, and the log says so. Sessions
// are never resumed, so every connection is checked against the files of its time.
package identity
