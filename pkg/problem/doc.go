// Package problem is the platform's one error type, from the rule that refuses a request to the application/problem+json
// body of the response (API specification, section Errors).
//
// A rule returns an *Error with a Code of the closed registry in this package. Between services it travels as a gRPC
// status with google.rpc.ErrorInfo and BadRequest details (Status, FromStatus); only the gateway renders it as JSON.
// Any other error is an internal_error: its cause is logged where it happened and never shown.
package problem
