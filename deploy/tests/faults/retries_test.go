//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/identity"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// retries shortens the wait for failed webhooks of a tenant, whose third attempt is due five minutes after the second, and the
// fourth half an hour later. It checks the log of such a delivery against the schedule, then makes the delivery due.
type retries struct {
	fixture    *fixture
	operations webhookv1.WebhookOperationsServiceClient
	queue      *pgx.Conn
	// first has the counts of each delivery at the first look, last the attempts at the last one.
	first   map[missingWebhook]attemptCounts
	last    map[missingWebhook]int32
	madeDue int
}

// attemptCounts are the attempts at a delivery, and how many of them its receiver refused.
type attemptCounts struct {
	attempts int32
	refused  int
}

func (f *fixture) newRetries(t *testing.T, tenant string) *retries {
	t.Helper()
	cell := f.cellOf(t, tenant)
	return &retries{
		fixture: f, queue: f.connect(t, inCell(cell, "webhook")),
		first: map[missingWebhook]attemptCounts{}, last: map[missingWebhook]int32{},
		operations: webhookv1.NewWebhookOperationsServiceClient(f.dialCell(t, cell, identity.Webhook, 0)),
	}
}

// missingWebhook is a webhook that has not arrived.
type missingWebhook struct {
	receiver *endpoint
	eventID  string
	event    eventName
}

func (w missingWebhook) String() string {
	return fmt.Sprintf("event %s for receiver %s", w.eventID, w.receiver.name)
}

// missingWebhooks returns the missing webhooks of the checker's tenant.
func (f *fixture) missingWebhooks(c *checker) (missing []missingWebhook) {
	for _, to := range f.endpoints {
		if to.tenant != c.tenant {
			continue
		}
		for _, sent := range to.missing(c.sentTo(to.reader)) {
			missing = append(missing, missingWebhook{receiver: to, eventID: sent.id, event: sent.name})
		}
	}
	return missing
}

// makeAllDue checks missing webhooks and makes them due, except for second attempts, which are soon due anyway.
func (r *retries) makeAllDue(t *testing.T, c *checker) {
	t.Helper()
	for _, w := range r.fixture.missingWebhooks(c) {
		now := time.Now()
		found, err := r.get(t.Context(), w)
		if status.Code(err) == codes.NotFound {
			continue // The webhook service has not read the event from Kafka yet.
		}
		require.NoError(t, err)
		counts := attemptCounts{attempts: found.GetDelivery().GetAttempts(), refused: w.receiver.refused(w.eventID)}
		pending := found.GetDelivery().GetState() == webhookv1.DeliveryState_DELIVERY_STATE_PENDING
		if !pending || counts.attempts == 0 || r.last[w] == counts.attempts {
			continue
		}
		if counts.attempts > 1 && !r.makeDue(t, w, counts.attempts) {
			continue // The webhook is being sent.
		}
		if r.last[w] = counts.attempts; r.first[w] == (attemptCounts{}) {
			r.first[w] = counts
		}
		from, _ := c.span(w.event, w.eventID)
		r.fixture.check(delivery, from, now, offSchedule(w, found, now))
		r.fixture.check(delivery, from, now, unexplained(w, r.first[w], counts))
	}
}

// unexplained describes failures after the end of the faults that the receiver did not cause. One is allowed: an attempt may
// use a connection that a fault has broken.
func unexplained(w missingWebhook, before, now attemptCounts) string {
	failed, refused := now.attempts-before.attempts, now.refused-before.refused
	if int(failed) > refused+1 {
		return fmt.Sprintf("%s: failed %d times without faults, but was refused %d times", w, failed, refused)
	}
	return ""
}

// makeDue makes the webhook due, unless an instance has leased it. It reports whether it did.
func (r *retries) makeDue(t *testing.T, w missingWebhook, attempts int32) bool {
	t.Helper()
	updated, err := r.queue.Exec(t.Context(), `UPDATE deliveries SET next_attempt_at = now()
		WHERE tenant_id = $1 AND key_id = $2 AND event_id = $3 AND attempts = $4 AND state = 'PENDING' AND lease_token IS NULL`,
		w.receiver.tenant, w.receiver.keyID, w.eventID, attempts)
	require.NoError(t, err)
	r.madeDue += int(updated.RowsAffected())
	return updated.RowsAffected() > 0
}

func (r *retries) get(ctx context.Context, w missingWebhook) (*webhookv1.GetDeliveryResponse, error) {
	req := &webhookv1.GetDeliveryRequest{Actor: staff, TenantId: w.receiver.tenant, KeyId: w.receiver.keyID, EventId: w.eventID}
	return r.operations.GetDelivery(ctx, req)
}

// printMissing prints the log of webhooks that never arrived.
func (r *retries) printMissing(ctx context.Context, c *checker, printf func(format string, args ...any)) {
	for i, w := range r.fixture.missingWebhooks(c) {
		if i < maxLines {
			found, err := r.get(ctx, w)
			printf("missing: %s: %v %v %v", w, found.GetDelivery(), found.GetAttempts(), err)
		}
	}
}

// offSchedule describes how a waiting delivery deviates from the schedule: the log must have each attempt with its error, and
// the next attempt must come after the pause of the specification, or up to a tenth later.
func offSchedule(w missingWebhook, d *webhookv1.GetDeliveryResponse, now time.Time) string {
	// tolerance is the time between the end of an attempt and its record. A delivery that has been due for longer than
	// overdue is forgotten: a lease and the start of an instance take less.
	const tolerance, lease, overdue = 3 * time.Second, 30 * time.Second, time.Minute
	pauses := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}
	attempts := int(d.GetDelivery().GetAttempts())
	if attempts > len(pauses) || len(d.GetAttempts()) != attempts {
		return fmt.Sprintf("%s: waits after %d attempts, the log has %d", w, attempts, len(d.GetAttempts()))
	}
	for _, a := range d.GetAttempts() {
		if a.GetProblem() == "" {
			return fmt.Sprintf("%s: waits, but the log says that attempt %d succeeded", w, a.GetNumber())
		}
	}
	last, pause := d.GetAttempts()[attempts-1], pauses[attempts-1]
	ended := last.GetStartedAt().AsTime().Add(time.Duration(last.GetDurationMs()) * time.Millisecond)
	next := d.GetDelivery().GetNextAttemptAt().AsTime()
	if next.Before(now.Add(-overdue)) {
		return fmt.Sprintf("%s: attempt %d ended at %s, the next was due at %s and was not made", w, attempts, ended, next)
	}
	latest := ended.Add(pause + pause/10 + lease)
	if soon := now.Add(lease); soon.After(latest) {
		latest = soon // It is being sent, or the platform itself failed and tries again.
	}
	if next.Before(ended.Add(pause-tolerance)) || next.After(latest.Add(tolerance)) {
		return fmt.Sprintf("%s: attempt %d ended at %s, the next is due at %s", w, attempts, ended, next)
	}
	return ""
}
