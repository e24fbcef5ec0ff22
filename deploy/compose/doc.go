// Package compose holds deploy/compose.yaml and the Dockerfile against what they are for: the schema of compose, the
// settings of the programs, and what every container of the platform has in common.
//
// It is built with the tag "manifests" and run by `make lint-chart`.
package compose
