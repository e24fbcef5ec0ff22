package gifting

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 20 * time.Second
)

// permanent is an error that another attempt would meet again.
type permanent struct{ error }

// Unwrap returns the error.
func (p *permanent) Unwrap() error { return p.error }

// retryable reports that the same request may succeed later: without an answer, on 429 and 5xx, and while an earlier request with
// the same Idempotency-Key still runs. Any other answer stays the same.
func retryable(err error) bool {
	if problem, ok := ProblemOf(err); ok {
		return problem.Status == http.StatusTooManyRequests || problem.Status >= http.StatusInternalServerError ||
			problem.Code == CodeIdempotencyRequestInProgress
	}
	_, never := errors.AsType[*permanent](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return !never && !untrusted && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrNotModified)
}

// delay is the time before the next attempt: what the server asks for, otherwise twice as long after each attempt. A random part
// keeps clients from coming back at the same time.
func delay(err error, attempt int) time.Duration {
	if problem, ok := ProblemOf(err); ok && problem.RetryAfter > 0 {
		return problem.RetryAfter + jitter(problem.RetryAfter/10)
	}
	backoff := min(firstBackoff<<min(attempt-1, 10), maxBackoff)
	return backoff/2 + jitter(backoff/2)
}

func jitter(most time.Duration) time.Duration {
	return rand.N(most + 1) //nolint:gosec // Nobody gains anything by guessing it.
}

// pause waits, and reports whether the context allows another attempt after it. If it does not, pause returns at once.
func pause(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
