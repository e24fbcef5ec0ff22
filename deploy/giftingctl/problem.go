package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/problem"
)

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnavailable = 3
	// exitInterrupted is what shells report after Ctrl-C.
	exitInterrupted = 130
)

// refusal is the response of a call that failed.
type refusal struct {
	status *status.Status
	// repeat are the flags with which the same call can be made again.
	repeat string
	// interrupted means that the user has stopped the command. If the call changes something, it may have been carried out.
	interrupted, changes bool
	// makesKey means that the call may have made a key, of which only the lost response has the text.
	makesKey bool
}

// stopped is a command that the user has stopped, without a call that could have had an effect.
func stopped() *refusal {
	return &refusal{status: status.FromContextError(context.Canceled), interrupted: true}
}

// retryableError is an error after which the same command may succeed later.
type retryableError struct{ error }

func (e retryableError) Unwrap() error { return e.error }

// Error implements error.
func (r *refusal) Error() string { return r.status.Message() }

// refusalOutput is how a refusal is printed.
type refusalOutput struct {
	Code   string         `json:"code"`
	Title  string         `json:"title"`
	Detail string         `json:"detail"`
	Status string         `json:"currentStatus,omitempty"`
	Errors []invalidField `json:"errors,omitempty"`
	// Repeat is what the same command needs so that nothing is done twice.
	Repeat string `json:"repeatWith,omitempty"`
}

type invalidField struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) output() refusalOutput {
	s := refusalOutput{Detail: r.status.Message()}
	for _, detail := range r.status.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == problem.Domain {
			s.Code = info.GetReason()
		}
	}
	switch known := problem.FromStatus(r.status); {
	case s.Code == string(known.Code):
		s.Title, s.Status = problem.Lookup(known.Code).Title, known.CurrentStatus
		for _, v := range known.Violations {
			s.Errors = append(s.Errors, invalidField(v))
		}
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
	if r.makesKey && (r.unreachable() || r.interrupted) {
		s.Detail += "; if keys list shows a new key, revoke it: its text is lost"
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
func (a *app) report(ctx context.Context, err error) int {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return a.reportRefusal(refused)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return a.reportRefusal(stopped())
	}
	code, shows := exitFailed, refusalOutput{Code: "failed", Title: "Failed", Detail: err.Error()}
	if _, ok := errors.AsType[terminal.UsageError](err); ok {
		code, shows.Code, shows.Title = exitUsage, "usage", "Wrong command or context"
	}
	if _, ok := errors.AsType[retryableError](err); ok {
		code, shows.Code = exitUnavailable, string(problem.ServiceUnavailable)
		shows.Title = problem.Lookup(problem.ServiceUnavailable).Title
	}
	if a.output == terminal.AsJSON {
		_ = terminal.JSONLine(a.Err, shows) // There is no other place to report to.
	} else {
		a.note("giftingctl: " + err.Error())
	}
	return code
}

func (a *app) reportRefusal(r *refusal) int {
	s, code := r.output(), exitFailed
	switch {
	case r.interrupted:
		code, s.Repeat = exitInterrupted, r.repeat
	case r.unreachable():
		code, s.Repeat = exitUnavailable, r.repeat
	}
	if a.output == terminal.AsJSON {
		_ = terminal.JSONLine(a.Err, s) // There is no other place to report to.
		return code
	}
	a.note(fmt.Sprintf("giftingctl: %s (%s): %s", s.Title, s.Code, s.Detail))
	for _, v := range s.Errors {
		a.note(fmt.Sprintf("  %s: %s (%s)", v.Field, v.Message, v.Code))
	}
	if s.Status != "" {
		a.note("  The status is " + word(s.Status) + ".")
	}
	if s.Code == string(problem.ServiceUnavailable) && len(r.status.Details()) == 0 {
		a.note("If this stays so, check the addresses, ca, certificate and key of the context: giftingctl context show")
	}
	if s.Repeat != "" {
		a.note("Nothing is done twice if you repeat the command with " + s.Repeat)
	}
	return code
}

// note prints a line that is not part of the result.
func (a *app) note(line string) { _, _ = io.WriteString(a.Err, terminal.Visible(line)+"\n") }
