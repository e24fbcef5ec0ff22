package rules

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/partnergifting/platform/pkg/netguard"
)

// Outcome is what came of one POST.
type Outcome struct {
	// Status is the receiver's HTTP status; 0 when none came back.
	Status int
	// Problem says in words for the receiver's owner what went wrong. It never holds an address or
	// any other text of our network. Empty when the event was delivered.
	Problem string
	// Class is one of a few words for metrics: 2xx and its like, or why no status came back.
	Class string
	// OurFault means that the receiver may be well: the attempt does not count.
	OurFault bool
}

// Classes of outcomes without a status.
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

// Delivered says whether the receiver has accepted the event.
func (o Outcome) Delivered() bool { return o.Status >= firstSuccess && o.Status < afterSuccess }

// Answered is the outcome of a POST the receiver answered. Redirects are not followed, so a 3xx is
// a failure like any other.
func Answered(status int) Outcome {
	o := Outcome{Status: status, Class: strconv.Itoa(status/statusesOfClass) + "xx"}
	if !o.Delivered() {
		o.Problem = fmt.Sprintf("The webhook responded with HTTP status %d.", status)
	}
	return o
}

// Unanswered is the outcome of a POST that ended with err before any status came back.
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
		return Outcome{Problem: unreachable, Class: ClassInternal, OurFault: true}
	}
	if timedOut(err) {
		return Outcome{Problem: "The webhook could not be reached: it did not answer in time.", Class: ClassTimeout}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return Outcome{Problem: "The webhook could not be reached: its TLS certificate is not valid.", Class: ClassTLS}
	}
	return Outcome{Problem: unreachable, Class: ClassUnreachable}
}

const unreachable = "The webhook could not be reached."

// unresolved tells a name that does not exist, which is the receiver's matter, from a resolver
// that did not answer, which is ours.
func unresolved(err *net.DNSError) Outcome {
	return Outcome{
		Problem:  "The webhook could not be reached: its host name could not be resolved.",
		Class:    ClassDNS,
		OurFault: !err.IsNotFound && (err.IsTemporary || err.IsTimeout),
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
