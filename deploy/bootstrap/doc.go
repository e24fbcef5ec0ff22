// Package bootstrap makes what an installation needs before its first start: secrets, databases with their roles, certificates,
// and the files of machines that run the programs with systemd.
//
// # Contract
//
// Everything can be run again: what exists is kept, what is missing is made. A secret is never overwritten, because data that was
// sealed with a lost key cannot be read. Secrets are in files that only their owner may read, and never in an error.
package bootstrap
