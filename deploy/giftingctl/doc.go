// Package giftingctl is the command line for platform operators and internal teams. It calls the operations planes of the
// services.
//
// # How it is built
//
// The table in calls.go has a row for each command that makes one kind of call: the words of the command, the method and what
// the command adds to it. Flags, arguments and completion follow from the message of the request, tables and JSON from that of
// the response. A test compares the table with all services of the contract.
//
// Contexts say where the services are, and who calls: the certificate, the acting person and the tenant. They are in one YAML
// file; see Config.
//
// # What it prints
//
// Results go to the standard output, as a table or with -o json as the JSON of the contract. All else goes to the standard
// error. Secrets are printed once, where the service returns them, and stored nowhere. With --dry-run a command that changes
// something prints its request and sends nothing.
package giftingctl
