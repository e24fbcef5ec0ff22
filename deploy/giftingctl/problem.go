package giftingctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/problem"
)

// The exit codes.
const (
	exitRefused     = 1
	exitUsage       = 2
	exitUnavailable = 3
	// exitInterrupted is what shells report after Ctrl-C.
	exitInterrupted = 130
)

// usageError is an error in the command or its context.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error { return usageError{err} }

// refusal is the response of a call that failed.
type refusal struct {
	status *status.Status
	// repeat are the flags with which the same call can be made again.
	repeat string
	// interrupted means that the user has stopped the command. The call may have been carried out if it changes something.
	interrupted, changes bool
}

// Error implements error.
func (r *refusal) Error() string { return r.status.Message() }

// shown is how a refusal is printed.
type shown struct {
	Code   string              `json:"code"`
	Title  string              `json:"title"`
	Detail string              `json:"detail"`
	Status string              `json:"currentStatus,omitempty"`
	Errors []problem.Violation `json:"errors,omitempty"`
}

func (r *refusal) shown() shown {
	s := shown{Detail: r.status.Message()}
	for _, detail := range r.status.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == problem.Domain {
			s.Code = info.GetReason()
		}
	}
	switch known := problem.FromStatus(r.status); {
	case s.Code == string(known.Code):
		s.Title, s.Errors, s.Status = problem.Lookup(known.Code).Title, known.Violations, known.CurrentStatus
	case s.Code != "":
		s.Title = sentence(s.Code)
	case r.interrupted:
		s.Code, s.Title, s.Detail = "interrupted", "Interrupted", "the command was stopped"
		if r.changes {
			s.Detail += "; the service may have carried it out"
		}
	case r.unreachable():
		s.Code, s.Title = string(problem.ServiceUnavailable), problem.Lookup(problem.ServiceUnavailable).Title
	default:
		s.Code, s.Title = word(r.status.Code().String()), r.status.Code().String()
	}
	return s
}

// unreachable reports that the same call may succeed later.
func (r *refusal) unreachable() bool {
	return r.status.Code() == codes.Unavailable || r.status.Code() == codes.DeadlineExceeded
}

// sentence turns caller_not_allowed into Caller not allowed.
func sentence(code string) string {
	words := strings.ReplaceAll(code, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return a.reportRefusal(refused)
	}
	code, shows := exitRefused, shown{Code: "failed", Title: "Failed", Detail: err.Error()}
	if _, ok := errors.AsType[usageError](err); ok {
		code, shows.Code, shows.Title = exitUsage, "usage", "Wrong command or context"
	}
	if a.output == asJSON {
		a.noteJSON(shows)
	} else {
		a.note("giftingctl: " + err.Error())
	}
	return code
}

func (a *app) noteJSON(s shown) {
	content, err := json.Marshal(s)
	must(err)
	a.note(escapeJSON(content))
}

func (a *app) reportRefusal(r *refusal) int {
	s := r.shown()
	if a.output == asJSON {
		a.noteJSON(s)
	} else {
		a.note(fmt.Sprintf("giftingctl: %s (%s): %s", s.Title, s.Code, s.Detail))
		for _, v := range s.Errors {
			a.note(fmt.Sprintf("  %s: %s (%s)", v.Field, v.Message, v.Code))
		}
		if s.Status != "" {
			a.note("  The status is " + word(s.Status) + ".")
		}
	}
	if !r.unreachable() && !r.interrupted {
		return exitRefused
	}
	if s.Code == string(problem.ServiceUnavailable) && len(r.status.Details()) == 0 {
		a.note("If this stays so, check the addresses, ca, certificate and key of the context: giftingctl context show")
	}
	if r.repeat != "" {
		a.note("Nothing is done twice if you repeat the command with " + r.repeat)
	}
	if r.interrupted {
		return exitInterrupted
	}
	return exitUnavailable
}

// note prints a line that is not part of the result.
func (a *app) note(line string) { _, _ = io.WriteString(a.Err, visible(line)+"\n") }
