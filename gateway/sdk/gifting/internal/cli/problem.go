package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnavailable = 3
	exitNotFound    = 4
	exitKeyRefused  = 5
	exitCheckFailed = 6
	// exitInterrupted is what shells report after Ctrl-C.
	exitInterrupted = 130
)

// errCheckFailed means that a check did not pass. Its output has already said why.
var errCheckFailed = errors.New("a check did not pass")

// errorOutput is what is printed of an error, as JSON or as text.
type errorOutput struct {
	Code          gifting.Code         `json:"code"`
	Title         string               `json:"title"`
	Detail        string               `json:"detail"`
	Errors        []gifting.FieldError `json:"errors,omitempty"`
	CurrentStatus string               `json:"currentStatus,omitempty"`
	OrderID       string               `json:"orderId,omitempty"`
	RequestID     string               `json:"requestId,omitempty"`
	// IdempotencyKey makes a repeated command safe, together with the flags of RepeatWith.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	RepeatWith     string `json:"repeatWith,omitempty"`
}

// report prints an error and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if errors.Is(err, errCheckFailed) {
		return exitCheckFailed
	}
	code, s := a.explain(ctx, err)
	if failed, ok := errors.AsType[*gifting.CallError](err); ok && a.repeatable &&
		(code == exitUnavailable || code == exitInterrupted) {
		s.IdempotencyKey, s.RepeatWith = failed.IdempotencyKey, a.repeatWith
	}
	if a.output == terminal.AsJSON {
		_ = terminal.JSONLine(a.Err, s) // There is no other place to report to.
		return code
	}
	text := "gifting: " + s.Title
	if s.Code != "" {
		text += " (" + string(s.Code) + ")"
	}
	if s.Detail != "" {
		text += ": " + s.Detail
	}
	a.note(text)
	for _, field := range s.Errors {
		a.note(fmt.Sprintf("  %s: %s (%s)", field.Field, field.Message, field.Code))
	}
	for _, more := range [][2]string{{"status now", s.CurrentStatus}, {"existing order", s.OrderID}, {"request", s.RequestID}} {
		if more[1] != "" {
			a.note("  " + more[0] + ": " + more[1])
		}
	}
	if s.IdempotencyKey != "" {
		flags := strings.TrimSpace(s.RepeatWith + " --idempotency-key " + s.IdempotencyKey)
		a.note("It may have taken effect. Nothing is done twice if you repeat the command with " + flags)
	}
	return code
}

// explain says what an error means for the user.
func (a *app) explain(ctx context.Context, err error) (code int, s errorOutput) {
	if problem, ok := gifting.ProblemOf(err); ok {
		return exitCodeOf(problem), errorOutput{
			Code: problem.Code, Title: problem.Title, Detail: problem.Detail, Errors: problem.Errors,
			CurrentStatus: problem.CurrentStatus, OrderID: problem.OrderID, RequestID: problem.RequestID,
		}
	}
	if ctx.Err() != nil {
		return exitInterrupted, errorOutput{Title: "Interrupted"}
	}
	if _, ok := errors.AsType[terminal.UsageError](err); ok {
		return exitUsage, errorOutput{Title: "Wrong command or profile", Detail: err.Error()}
	}
	if failed, ok := errors.AsType[*gifting.CallError](err); ok {
		if failed.Attempts == 0 {
			return exitUsage, errorOutput{Title: "Wrong command or profile", Detail: failed.Err.Error()}
		}
		return exitUnavailable, errorOutput{Title: "No answer", Detail: fmt.Sprintf("%s (%d attempts)", failed, failed.Attempts)}
	}
	return exitFailed, errorOutput{Title: "Failed", Detail: err.Error()}
}

func exitCodeOf(problem *gifting.Problem) int {
	switch {
	case problem.Status == http.StatusUnauthorized || problem.Status == http.StatusForbidden:
		return exitKeyRefused
	case problem.Status == http.StatusNotFound:
		return exitNotFound
	case problem.Status == http.StatusTooManyRequests || problem.Status >= http.StatusInternalServerError ||
		problem.Code == gifting.CodeIdempotencyRequestInProgress:
		return exitUnavailable
	}
	return exitFailed
}

// note prints a line that is not part of the result.
func (a *app) note(line string) { _, _ = io.WriteString(a.Err, terminal.Visible(line)+"\n") }
