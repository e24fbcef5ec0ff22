// Package compose checks deploy/compose.yaml against the schema of Compose, the list of programs and their settings, and the
// hardening that every container must have.
//
// It is built with the tag "manifests" and run by `make lint-chart`.
package compose
