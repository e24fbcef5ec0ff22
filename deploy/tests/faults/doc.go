// Package faults tests the invariants of the platform while programs, servers and networks fail. Its tests have the build tag
// faults and run by `make faults` and `make disasters`. README.md describes the faults, the checks, and how the checks are tested.
//
// GIFTING_TEST_SEED repeats the choices of a run, GIFTING_TEST_SECONDS is its length, and GIFTING_TEST_LOG_DIR is the folder
// of failed runs.
package faults
