package rules

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/partnergifting/platform/pkg/netguard"
)

// Outcome is the result of one POST.
type Outcome struct {
	// Status is the receiver's HTTP status; 0 without a response.
	Status int
	// Problem says what went wrong, in words for the receiver's owner. It never contains an address or other details of our
	// network. It is empty if the event was delivered.
	Problem string
	// Class is a label for metrics: 2xx to 5xx, or why there is no response.
	Class string
	// Internal means that the failure is on our side: the attempt does not count.
	Internal bool
}

// Classes of outcomes without a response.
const (
	ClassForbidden   = "forbidden_address"
	ClassInternal    = "internal"
	ClassTimeout     = "timeout"
	ClassTLS         = "tls"
	ClassDNS         = "dns"
	ClassUnreachable = "unreachable"
)

const (
	firstSuccess = 200
	afterSuccess = 300

	statusesOfClass = 100
)

// Delivered reports whether the receiver has accepted the event.
func (o Outcome) Delivered() bool { return o.Status >= firstSuccess && o.Status < afterSuccess }

// Answered is the outcome of a POST with a response. Redirects are not followed, so a 3xx is a failure like any other.
func Answered(status int) Outcome {
	o := Outcome{Status: status, Class: strconv.Itoa(status/statusesOfClass) + "xx"}
	if !o.Delivered() {
		o.Problem = fmt.Sprintf("The webhook responded with HTTP status %d.", status)
	}
	return o
}

// Unanswered is the outcome of a POST that failed with err and has no response.
func Unanswered(err error) Outcome {
	if errors.Is(err, netguard.ErrForbiddenAddress) {
		return Outcome{
			Problem: "The webhook could not be reached: its URL does not lead to a public address.", Class: ClassForbidden,
		}
	}
	if errors.Is(err, netguard.ErrURL) {
		return Outcome{Problem: "The webhook could not be reached: its URL must use HTTPS.", Class: ClassForbidden}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return unresolved(dns)
	}
	if outOfResources(err) || errors.Is(err, context.Canceled) {
		return Outcome{Problem: unreachable, Class: ClassInternal, Internal: true}
	}
	if timedOut(err) {
		return Outcome{Problem: "The webhook could not be reached: it did not answer in time.", Class: ClassTimeout}
	}
	if problem := brokenTLS(err); problem != "" {
		return Outcome{Problem: problem, Class: ClassTLS}
	}
	return Outcome{Problem: disconnected(err), Class: ClassUnreachable}
}

const unreachable = "The webhook could not be reached."

// brokenTLS says why there is no encrypted connection. It is empty if TLS is not the reason.
func brokenTLS(err error) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "The webhook could not be reached: its TLS certificate is not valid."
	}
	_, noRecord := errors.AsType[tls.RecordHeaderError](err)
	if noRecord || errors.Is(err, http.ErrSchemeMismatch) {
		return "The webhook could not be reached: its port does not answer with TLS."
	}
	op, ok := errors.AsType[*net.OpError](err)
	alert := ok && (op.Op == "remote error" || op.Op == "local error") // What crypto/tls calls an alert.
	if alert || strings.Contains(err.Error(), "tls: ") {
		return "The webhook could not be reached: the TLS handshake failed."
	}
	return ""
}

// disconnected says why a receiver that resolves, and whose TLS works, has not answered. Package net/http has no types for its own
// errors, so they are recognized by their words: the tests of webhookclient cause each of them.
func disconnected(err error) string {
	is := func(kinds ...error) bool {
		return slices.ContainsFunc(kinds, func(e error) bool { return errors.Is(err, e) })
	}
	says := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(words string) bool { return strings.Contains(err.Error(), words) })
	}
	switch {
	case is(syscall.ECONNREFUSED):
		return "The webhook could not be reached: it refused the connection."
	case is(syscall.EHOSTUNREACH, syscall.ENETUNREACH):
		return "The webhook could not be reached: there is no route to its address."
	case says("server response headers exceeded", "response header list larger"):
		return "The webhook did not answer: the headers of its response are too large."
	case says("malformed HTTP", "malformed MIME header"):
		return "The webhook did not answer: its response is not HTTP."
	case is(syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF), says("stream error", "GOAWAY", "closed idle connection"):
		return "The webhook did not answer: it closed the connection."
	}
	return unreachable
}

// unresolved distinguishes two cases: the name does not exist, which is the receiver's error, or the resolver did not answer,
// which is a failure on our side.
func unresolved(err *net.DNSError) Outcome {
	return Outcome{
		Problem:  "The webhook could not be reached: its host name could not be resolved.",
		Class:    ClassDNS,
		Internal: !err.IsNotFound && (err.IsTemporary || err.IsTimeout),
	}
}

func outOfResources(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
