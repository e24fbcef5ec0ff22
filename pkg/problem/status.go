package problem

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// Domain of every ErrorInfo of the platform.
	Domain = "partnergifting"

	metaStatus       = "currentStatus"
	metaOrder        = "orderId"
	metaInstance     = "instance"
	maxStatusDetails = 3
	// maxStatusViolations keeps a status far below the limit of HTTP/2 headers: one that is too large ends the whole connection
	// with all its calls.
	maxStatusViolations = 1000
)

// Status is the gRPC form of the error: google.rpc.ErrorInfo with the code as its reason, BadRequest with the violations, RetryInfo
// with the delay.
func (e *Error) Status() *status.Status {
	info := Lookup(e.Code)
	st := status.New(info.GRPC, e.Detail)
	details := make([]protoadapt.MessageV1, 0, maxStatusDetails)
	details = append(details, protoadapt.MessageV1Of(e.errorInfo()))
	if len(e.Violations) > 0 {
		details = append(details, protoadapt.MessageV1Of(e.badRequest()))
	}
	if e.RetryAfter > 0 {
		details = append(details, protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)}))
	}
	full, err := st.WithDetails(details...)
	if err != nil {
		return st // Only possible for an OK status, which no code of the registry has.
	}
	return full
}

// GRPCStatus lets grpc turn the error into its status wherever it is returned.
func (e *Error) GRPCStatus() *status.Status { return e.Status() }

func (e *Error) errorInfo() *errdetails.ErrorInfo {
	info := &errdetails.ErrorInfo{Reason: string(e.Code), Domain: Domain, Metadata: map[string]string{}}
	for key, value := range map[string]string{
		metaStatus: e.CurrentStatus, metaOrder: e.OrderID, metaInstance: e.Instance,
	} {
		if value != "" {
			info.Metadata[key] = value
		}
	}
	return info
}

func (e *Error) badRequest() *errdetails.BadRequest {
	bad := &errdetails.BadRequest{}
	for _, v := range e.Violations[:min(len(e.Violations), maxStatusViolations)] {
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: v.Field, Reason: v.Code, Description: v.Message,
		})
	}
	return bad
}

// FromStatus reads an error back. A status without the platform's ErrorInfo is a transport error, and so is one whose reason is
// not a code of the registry, such as that of a refused caller. Its text must not leave the platform. An unavailable or
// overloaded service and a deadline become service_unavailable, and so does a method that the service does not have yet, because it
// is older; all else becomes internal_error.
func FromStatus(st *status.Status) *Error {
	e := &Error{Detail: st.Message()}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() == Domain {
				e.readInfo(d)
			}
		case *errdetails.BadRequest:
			e.readViolations(d)
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	if e.Code != "" {
		return e
	}
	switch st.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Unimplemented:
		return Unavailable()
	default:
		return Internal()
	}
}

// Internal is the error that hides an internal cause.
func Internal() *Error {
	return New(InternalError, "Something went wrong on our side; try again.")
}

func (e *Error) readInfo(d *errdetails.ErrorInfo) {
	e.Code = byCode[Code(d.GetReason())].Code
	e.CurrentStatus = d.GetMetadata()[metaStatus]
	e.OrderID = d.GetMetadata()[metaOrder]
	e.Instance = d.GetMetadata()[metaInstance]
}

func (e *Error) readViolations(d *errdetails.BadRequest) {
	for _, v := range d.GetFieldViolations() {
		e.Violations = append(e.Violations, Violation{Field: v.GetField(), Code: v.GetReason(), Message: v.GetDescription()})
	}
}
