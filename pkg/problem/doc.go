// Package problem is the platform's one error type and its journey from the rule that finds a
// fault to the application/problem+json answer (API specification, section Errors).
//
// A rule returns an *Error with a Code of the closed registry in this package. Between services it travels as a gRPC
// status with google.rpc.ErrorInfo and BadRequest details (Status, FromStatus); only the gateway renders it as JSON.
// An error that is no *Error is an internal_error: its cause is logged where it happened and shown to nobody.
package problem
