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

	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// retries takes the waiting out of webhooks that have failed: the third attempt comes five minutes after the second, the
// fourth half an hour after that. What the log of such a delivery says must agree with the schedule; then it is made due.
type retries struct {
	scene *scene
	log   webhookv1.WebhookOperationsServiceClient
	queue *pgx.Conn
	// first is how each delivery stood when it was looked at first, last after how many attempts that was the last time.
	first map[awaited]standing
	last  map[awaited]int32
	// made is how often one was made due.
	made int
}

// standing is how often a delivery was tried, and how often its receiver refused it.
type standing struct {
	attempts int32
	refused  int
}

func (c *scene) newRetries(t *testing.T) *retries {
	t.Helper()
	return &retries{
		scene: c, queue: c.connect(t, "webhook"), first: map[awaited]standing{}, last: map[awaited]int32{},
		log: webhookv1.NewWebhookOperationsServiceClient(c.dial(t, "GIFTING_GRPC_WEBHOOK", 0)),
	}
}

// awaited is a webhook that has not arrived.
type awaited struct {
	receiver *endpoint
	eventID  string
	mark     mark
}

func (w awaited) String() string {
	return fmt.Sprintf("event %s for receiver %s", w.eventID, w.receiver.name)
}

// awaited gives what the receivers of the judge's tenant wait for.
func (c *scene) awaited(j *judge) (missing []awaited) {
	for _, e := range c.endpoints {
		if e.tenant != j.tenant {
			continue
		}
		for _, sent := range e.missing(j.sentTo(e.reader)) {
			missing = append(missing, awaited{receiver: e, eventID: sent.id, mark: sent.mark})
		}
	}
	return missing
}

// hasten makes due what receivers wait for, but for the second attempts, which come soon by themselves.
func (r *retries) hasten(t *testing.T, j *judge) {
	t.Helper()
	for _, w := range r.scene.awaited(j) {
		now := time.Now()
		logged, err := r.look(t.Context(), w)
		if status.Code(err) == codes.NotFound {
			continue // It is still on its way out of Kafka.
		}
		require.NoError(t, err)
		stands := standing{attempts: logged.GetDelivery().GetAttempts(), refused: w.receiver.refused(w.eventID)}
		waits := logged.GetDelivery().GetState() == webhookv1.DeliveryState_DELIVERY_STATE_PENDING
		if !waits || stands.attempts == 0 || r.last[w] == stands.attempts {
			continue
		}
		if stands.attempts > 1 && !r.makeDue(t, w, stands.attempts) {
			continue // It is being tried.
		}
		if r.last[w] = stands.attempts; r.first[w] == (standing{}) {
			r.first[w] = stands
		}
		from, _ := j.span(w.mark, w.eventID)
		r.scene.hold(delivery, from, now, offSchedule(w, logged, now))
		r.scene.hold(delivery, from, now, r.first[w].failsAlone(w, stands))
	}
}

// failsAlone says whether what failed since, while all was quiet, is more than what the receiver refused. One attempt may
// meet a connection that a fault has left half dead.
func (s standing) failsAlone(w awaited, now standing) string {
	failed, refused := now.attempts-s.attempts, now.refused-s.refused
	if int(failed) > refused+1 {
		return fmt.Sprintf("%s: failed %d times while nothing was wrong, and was refused %d times", w, failed, refused)
	}
	return ""
}

// makeDue says whether it did: who tries it at this moment has leased it.
func (r *retries) makeDue(t *testing.T, w awaited, attempts int32) bool {
	t.Helper()
	made, err := r.queue.Exec(t.Context(), `UPDATE deliveries SET next_attempt_at = now()
		WHERE tenant_id = $1 AND key_id = $2 AND event_id = $3 AND attempts = $4 AND state = 'PENDING' AND lease_token IS NULL`,
		w.receiver.tenant, w.receiver.keyID, w.eventID, attempts)
	require.NoError(t, err)
	r.made += int(made.RowsAffected())
	return made.RowsAffected() > 0
}

func (r *retries) look(ctx context.Context, w awaited) (*webhookv1.GetDeliveryResponse, error) {
	return r.log.GetDelivery(ctx, &webhookv1.GetDeliveryRequest{TenantId: w.receiver.tenant, KeyId: w.receiver.keyID, EventId: w.eventID})
}

// tell says what the log has of what has not arrived in the end.
func (r *retries) tell(ctx context.Context, j *judge, say func(format string, args ...any)) {
	for i, w := range r.scene.awaited(j) {
		if i < manyOf {
			logged, err := r.look(ctx, w)
			say("missing: %s: %v %v %v", w, logged.GetDelivery(), logged.GetAttempts(), err)
		}
	}
}

// offSchedule says what is wrong with a delivery that failed and waits, if anything is: each attempt stands in its log with
// what went wrong, and the next comes after the pause of the specification, or a tenth more.
func offSchedule(w awaited, d *webhookv1.GetDeliveryResponse, now time.Time) string {
	// tolerance is for what lies between the end of an attempt and the record of it. What has been due for longer than a
	// lease and the start of an instance take is forgotten.
	const tolerance, lease, forgotten = 3 * time.Second, 30 * time.Second, time.Minute
	pauses := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}
	attempts := int(d.GetDelivery().GetAttempts())
	if attempts > len(pauses) || len(d.GetAttempts()) != attempts {
		return fmt.Sprintf("%s: waits after %d attempts, of which the log has %d", w, attempts, len(d.GetAttempts()))
	}
	for _, a := range d.GetAttempts() {
		if a.GetProblem() == "" {
			return fmt.Sprintf("%s: waits, and the log says that attempt %d delivered it", w, a.GetNumber())
		}
	}
	last, pause := d.GetAttempts()[attempts-1], pauses[attempts-1]
	ended := last.GetStartedAt().AsTime().Add(time.Duration(last.GetDurationMs()) * time.Millisecond)
	next := d.GetDelivery().GetNextAttemptAt().AsTime()
	if next.Before(now.Add(-forgotten)) {
		return fmt.Sprintf("%s: attempt %d ended at %s, the next was due at %s and nobody made it", w, attempts, ended, next)
	}
	latest := ended.Add(pause + pause/10 + lease)
	if soon := now.Add(lease); soon.After(latest) {
		latest = soon // It is being sent, or the platform itself was at fault and tries again.
	}
	if next.Before(ended.Add(pause-tolerance)) || next.After(latest.Add(tolerance)) {
		return fmt.Sprintf("%s: attempt %d ended at %s, the next is to come at %s", w, attempts, ended, next)
	}
	return ""
}
