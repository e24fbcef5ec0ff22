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
	// answerWithin is how long a request is repeated, which covers everything that is done to the platform.
	answerWithin = 2 * time.Minute
	attemptTime  = 15 * time.Second
	retryEvery   = 300 * time.Millisecond
)

// notNow are the refusals that may come to any request. Retry-After says after how many seconds to try again: wait, where
// that is fixed.
var notNow = map[string]struct{ status, wait int }{
	"idempotency_request_in_progress": {http.StatusConflict, 2},
	"rate_limited":                    {status: http.StatusTooManyRequests},
	"service_unavailable":             {status: http.StatusServiceUnavailable},
}

// call is one request of the API.
type call struct {
	method, path, body, idempotencyKey string
	// may are the codes of the refusals that are right here.
	may []string
}

type answer struct {
	status int
	header http.Header
	body   string
}

// settles says whether the answer is the last one to a request that may be refused so: one that a repetition gets again.
func (a answer) settles(may []string) bool { return a.good() || slices.Contains(may, a.code()) }

// code is that of a problem.
func (a answer) code() string {
	var problem struct{ Code string }
	_ = json.Unmarshal([]byte(a.body), &problem) // Then it has none.
	return problem.Code
}

func (a answer) good() bool {
	return a.status >= http.StatusOK && a.status < http.StatusMultipleChoices
}

// kind names an outcome for the count.
func kind(a answer, err error) string {
	switch {
	case err != nil:
		return "no answer"
	case a.good():
		return strconv.Itoa(a.status)
	default:
		return strconv.Itoa(a.status) + " " + a.code()
	}
}

// client asks the gateways in turn, by a key, and holds each answer against what answers may be.
type client struct {
	http    *http.Client
	bases   []string
	turn    *atomic.Uint64
	verdict *verdict
	key     string
}

// with gives a client with another key.
func (c *client) with(key string) *client {
	other := *c
	other.key = key
	return &other
}

// exchange repeats a call until it is answered: with a success, or a refusal that is right here.
func (c *client) exchange(ctx context.Context, what call) (answer, bool) {
	began := time.Now()
	for time.Since(began) < answerWithin {
		if a, err := c.attempt(ctx, what); err == nil && a.settles(what.may) {
			return a, true
		} else if err == nil && dishonest(a, what.may) != "" {
			return a, false // Written down already, and no better the next time.
		}
		pauseFor(ctx, retryEvery)
	}
	c.verdict.broken(answers, began, time.Now(), "%s %s: not answered within %s", what.method, what.path, answerWithin)
	return answer{}, false
}

// attempt makes a call once.
func (c *client) attempt(ctx context.Context, what call) (answer, error) {
	began := time.Now()
	a, err := c.send(ctx, what)
	c.verdict.count(what.method + " " + kind(a, err))
	if err != nil {
		return a, err
	}
	wrong := dishonest(a, what.may)
	if wrong != "" {
		wrong = fmt.Sprintf("%s %s: %s: %d %s", what.method, what.path, wrong, a.status, a.body)
	}
	c.verdict.hold(answers, began, time.Now(), wrong)
	c.verdict.hold(leak, began, time.Now(), personal(what.method+" "+what.path, a.body))
	return a, nil
}

func (c *client) send(ctx context.Context, what call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	base := c.bases[c.turn.Add(1)%uint64(len(c.bases))]
	req, err := http.NewRequestWithContext(ctx, what.method, base+what.path, strings.NewReader(what.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if what.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", what.idempotencyKey)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(content)}, err
}

// dishonest says what is wrong with an answer that is neither a success nor one of the refusals that are right here nor
// an honest word that there is no answer now and when to ask again.
func dishonest(a answer, may []string) string {
	if a.good() {
		if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
			return "no JSON"
		}
		return ""
	}
	var problem struct {
		Status int
		Code   string
	}
	err := json.Unmarshal([]byte(a.body), &problem)
	switch {
	case err != nil || a.header.Get("Content-Type") != "application/problem+json" || problem.Status != a.status || problem.Code == "":
		return "no problem"
	case notNow[problem.Code].status == a.status:
		fixed := notNow[problem.Code].wait
		if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 || fixed > 0 && seconds != fixed {
			return "no time to try again, or a wrong one"
		}
		return ""
	case !slices.Contains(may, problem.Code):
		return "wrongly refused"
	default:
		return ""
	}
}

// named gives the text of a member, or the id of one that is an object.
func (a answer) named(member string) string {
	var read map[string]json.RawMessage
	var value string
	var inner struct{ ID string }
	if json.Unmarshal([]byte(a.body), &read) == nil && json.Unmarshal(read[member], &value) != nil {
		_ = json.Unmarshal(read[member], &inner) // Then it has none.
		return inner.ID
	}
	return value
}

// length is that of the list in a member, or of the list that the answer is.
func (a answer) length(member string) int {
	raw, list := json.RawMessage(a.body), []json.RawMessage{}
	if member != "" {
		var read map[string]json.RawMessage
		_ = json.Unmarshal(raw, &read) // Then it is empty.
		raw = read[member]
	}
	_ = json.Unmarshal(raw, &list) // Then it is empty.
	return len(list)
}
