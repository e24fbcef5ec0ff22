package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/testenv"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	tenantA = "0190aaaa-0000-7000-8000-000000000001"
	tenantB = "0190bbbb-0000-7000-8000-000000000002"
	// The record of events and its brand.
	aBrand   = "0190cccc-0000-7000-8000-000000000003"
	aSubject = "0190dddd-0000-7000-8000-000000000004"
	// retention is how long finished deliveries are kept.
	retention = 24 * time.Hour
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	delivered = rules.Verdict{State: rules.Delivered, Counted: true}
	failed    = rules.Verdict{State: rules.Failed, Counted: true}
	retryIn1h = rules.Verdict{State: rules.Pending, Counted: true, Wait: time.Hour}
)

func TestMain(m *testing.M) { testenv.AtMidnightToo(m, &noon) }

// fixture is a store whose clock the calls set.
type fixture struct {
	*Store
	now time.Time
}

// setup makes a fixture in which every row has a twin of another tenant.
func setup(t *testing.T) *fixture {
	t.Helper()
	f := setupWithoutTwins(t)
	webhooktest.Twin(t, f.pool)
	return f
}

// setupWithoutTwins is for tests that read or change the rows of all tenants.
func setupWithoutTwins(t *testing.T) *fixture {
	t.Helper()
	pool := pgtest.New(t, Migrations())
	webhooktest.RequireConsistentRows(t, pool)
	f := &fixture{now: noon}
	f.Store = NewAt(pool, func() time.Time { return f.now })
	return f
}

// anEvent is an event of tenant A for the keys.
func anEvent(id string, keys ...int32) Event {
	return Event{
		TenantID: tenantA, ID: id, Type: "order.created", BrandID: aBrand, SubjectID: aSubject, Body: []byte("{}"), KeyIDs: keys,
	}
}

// newID is the id of a new event.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// addEvent stores an event for the keys and returns its id.
func (f *fixture) addEvent(t *testing.T, tenant string, at time.Time, keys ...int32) string {
	t.Helper()
	f.now = at
	e := anEvent(newID(), keys...)
	e.TenantID, e.Body = tenant, []byte(e.ID)
	_, err := f.FanOut(t.Context(), 0, []Event{e})
	require.NoError(t, err)
	return e.ID
}

func (f *fixture) claim(t *testing.T, at time.Time, limit, perEndpoint int) []Delivery {
	t.Helper()
	f.now = at
	claimed, err := f.claimDue(t.Context(), request(limit), perEndpoint)
	require.NoError(t, err)
	require.Empty(t, claimed.Contended)
	return claimed.Deliveries
}

// storeMessages stores the events of messages.
func (f *fixture) storeMessages(t *testing.T, m Messages, events []Event) error {
	t.Helper()
	_, err := f.FanOutMessages(t.Context(), m, events, nil, nil)
	return err
}

// claimDue claims for all endpoints with due rows, as a sender that has no deliveries yet.
func (s *Store) claimDue(ctx context.Context, r ClaimRequest, perEndpoint int) (Claimed, error) {
	r.Sender, r.Share = rand.Int64(), perEndpoint
	if err := s.Register(ctx, r.Sender); err != nil {
		return Claimed{}, err
	}
	found, err := s.Discover(ctx, r.Sender, false)
	slices.SortFunc(found.Due, func(a, b Due) int { return a.Since.Compare(b.Since) })
	for _, d := range found.Due {
		r.Endpoints = append(r.Endpoints, ClaimTarget{Due: d, Rows: perEndpoint})
	}
	if err != nil {
		return Claimed{}, err
	}
	return s.Claim(ctx, r)
}

func request(limit int) ClaimRequest {
	return ClaimRequest{Lease: 30 * time.Second, Limit: limit}
}

var errLeaseLost = errors.New("the lease was lost")

// record records the result of an attempt that got the status.
func (f *fixture) record(t *testing.T, d Delivery, v rules.Verdict, status int) error {
	t.Helper()
	attempt := Attempt{StartedAt: f.now, Outcome: rules.Answered(status)}
	recorded, err := f.Record(t.Context(), []Result{{Delivery: d, Verdict: v, Attempt: attempt}})
	if err == nil && !recorded[0] {
		return errLeaseLost
	}
	return err
}

// deliverDue claims the due deliveries and records them as delivered.
func (f *fixture) deliverDue(t *testing.T, at time.Time) {
	t.Helper()
	for _, d := range f.claim(t, at, 100, 100) {
		require.NoError(t, f.record(t, d, delivered, 200))
	}
}

// count counts the rows of a table that are no twins.
func (f *fixture) count(t *testing.T, table string) int {
	t.Helper()
	return pgtest.Value[int](t, f.pool,
		"SELECT count(*) FROM "+table+" x WHERE to_jsonb(x)->>'tenant_id' IS DISTINCT FROM $1", pgtest.TwinTenant)
}

func (f *fixture) deleteFinished(t *testing.T, limit int) int {
	t.Helper()
	deleted, _, err := f.DeleteFinished(t.Context(), retention, time.Time{}, limit)
	require.NoError(t, err)
	return deleted
}
