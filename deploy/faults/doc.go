// Package faults tests what the platform promises while everything around it fails. Its tests have the build tag faults
// and run by `make faults`; README.md says what they do, and how they are themselves tested.
//
// GIFTING_TEST_SEED repeats the choices of a run, GIFTING_TEST_SECONDS says how long it goes on, and GIFTING_TEST_LOG_DIR
// is where the runs that failed are kept.
package faults
