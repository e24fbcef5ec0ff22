//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// answerTimeout is how long a request is repeated. It covers every fault.
	answerTimeout = 2 * time.Minute
	tryTimeout    = 15 * time.Second
	retryInterval = 300 * time.Millisecond
)

// temporary are the problems that any request may get. Retry-After must be set: to wait seconds if that is fixed.
var temporary = map[string]struct{ status, wait int }{
	"idempotency_request_in_progress": {http.StatusConflict, 2},
	"rate_limited":                    {status: http.StatusTooManyRequests},
	"service_unavailable":             {status: http.StatusServiceUnavailable},
}

// call is one request of the API.
type call struct {
	method, path, body, idempotencyKey, ifMatch string
	// problems are the codes of valid responses.
	problems []string
}

type answer struct {
	status int
	header http.Header
	body   string
}

// final reports whether every repetition of the call gets this response again.
func (a answer) final(c call) bool { return a.success() || slices.Contains(c.problems, a.code()) }

type problem struct {
	Status int
	Code   string
}

// problem is empty for a response that is not a problem.
func (a answer) problem() (p problem) {
	_ = json.Unmarshal([]byte(a.body), &p)
	return p
}

func (a answer) code() string { return a.problem().Code }

func (a answer) success() bool {
	return a.status >= http.StatusOK && a.status < http.StatusMultipleChoices
}

// outcome names the answer for the count.
func outcome(a answer, err error) string {
	if err != nil {
		return "no answer"
	}
	return strings.TrimSpace(strconv.Itoa(a.status) + " " + a.code())
}

// client sends requests to the gateways alternately, with an API key, and checks each answer.
type client struct {
	http    *http.Client
	bases   []string
	next    *atomic.Uint64
	results *results
	key     string
}

// with returns a client with another key.
func (c *client) with(key string) *client {
	other := *c
	other.key = key
	return &other
}

// send repeats a call until it has its final answer.
func (c *client) send(ctx context.Context, what call) (answer, bool) {
	began := time.Now()
	for time.Since(began) < answerTimeout {
		if a, err := c.try(ctx, what); err == nil && a.final(what) {
			c.results.addWait(what, time.Since(began))
			return a, true
		} else if err == nil && invalid(what, a) != "" {
			return a, false // The violation is recorded, and a repetition would get the same response.
		}
		sleep(ctx, retryInterval)
	}
	c.results.failed(answers, began, time.Now(), "%s %s: not answered within %s", what.method, what.path, answerTimeout)
	return answer{}, false
}

// try sends a call once and checks the answer.
func (c *client) try(ctx context.Context, what call) (answer, error) {
	began := time.Now()
	a, err := c.sendOnce(ctx, what)
	c.results.count(what.method + " " + outcome(a, err))
	if c.results.movesOnly && ctx.Err() == nil {
		c.results.check(answers, began, time.Now(), refusedByMove(what, a, err))
	}
	if err != nil {
		return a, err
	}
	violation := invalid(what, a)
	if violation != "" {
		violation = fmt.Sprintf("%s %s: %s: %d %s", what.method, what.path, violation, a.status, a.body)
	}
	c.results.check(answers, began, time.Now(), violation)
	c.results.check(leak, began, time.Now(), findPersonal(what.method+" "+what.path, a.body))
	return a, nil
}

func (c *client) sendOnce(ctx context.Context, what call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	base := c.bases[c.next.Add(1)%uint64(len(c.bases))]
	req, err := http.NewRequestWithContext(ctx, what.method, base+what.path, strings.NewReader(what.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if what.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", what.idempotencyKey)
	}
	if what.ifMatch != "" {
		req.Header.Set("If-Match", what.ifMatch)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(content)}, err
}

// invalid describes what is wrong with a response. Valid are successes, the problems of the call, and temporary problems with a
// Retry-After.
func invalid(c call, a answer) string {
	if a.success() {
		if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
			return "not JSON"
		}
		return ""
	}
	switch problem := a.problem(); {
	case a.header.Get("Content-Type") != "application/problem+json" || problem.Status != a.status || problem.Code == "":
		return "not a problem"
	case temporary[problem.Code].status == a.status:
		wait := temporary[problem.Code].wait
		if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 || wait > 0 && seconds != wait {
			return "no Retry-After, or a wrong one"
		}
		return ""
	case !slices.Contains(c.problems, problem.Code):
		return "wrong problem"
	default:
		return ""
	}
}
