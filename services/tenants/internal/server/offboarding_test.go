package server_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// pages is a fake of a service that exports two pages of a tenant with one key.
type pages struct {
	privacyv1.TenantDataServiceClient
}

func (pages) ExportTenant(
	_ context.Context, req *privacyv1.ExportTenantRequest, _ ...grpc.CallOption,
) (*privacyv1.ExportTenantResponse, error) {
	if len(req.GetKeyIds()) != 1 {
		return nil, errors.New("these are not the keys of the tenant")
	}
	if req.GetAfter() == "" {
		return &privacyv1.ExportTenantResponse{Lines: []byte("{\"table\":\"orders\",\"row\":{\"n\":1}}\n"), Next: "1"}, nil
	}
	return &privacyv1.ExportTenantResponse{Lines: []byte("{\"table\":\"orders\",\"row\":{\"n\":2}}\n")}, nil
}

func (f *fixture) offboard(tenantID string) *tenantsv1.Offboarding {
	f.t.Helper()
	return call(f.t, f.offboarding.OffboardTenant, &tenantsv1.OffboardTenantRequest{
		Actor: backoffice(), TenantId: tenantID,
	}).GetOffboarding()
}

func TestAnOffboardedTenantIsDisabledAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.tenant()
	key, before := f.createKey(id), f.settings(id).GetVersion()
	o := f.offboard(id)
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, o.GetState())
	require.Equal(t, 30*24*time.Hour, o.GetEraseAfter().AsTime().Sub(o.GetRequestedAt().AsTime()).Round(time.Hour))
	require.Equal(t, backoffice().GetId(), o.GetRequestedBy().GetId())
	_, err := f.resolve(key.GetApiKey())
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.Equal(t, tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, f.endpoint(key.GetKey().GetId()).GetState())
	settings := f.settings(id)
	require.True(t, settings.GetOffboarding())
	published, err := f.redis.Get(t.Context(), tenants.VersionKey(id)).Int64()
	require.NoError(t, err)
	require.Equal(t, before+1, published, "the edge asks again at the next request")

	again := call(t, f.offboarding.OffboardTenant, &tenantsv1.OffboardTenantRequest{
		Actor: backoffice(), TenantId: id, GracePeriod: durationpb.New(24 * time.Hour),
	}).GetOffboarding()
	require.Equal(t, o.GetEraseAfter().AsTime(), again.GetEraseAfter().AsTime())
	require.Len(t, again.GetSteps(), 1)
	requireRefused(t, problem.NotEditable, f.ops.PutTenant, tenantRequest(id))
}

func TestACancelledOffboardingGivesTheAccessBackThatTheTenantHad(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, access := range []bool{true, false} {
		id := f.tenant()
		key := f.createKey(id)
		f.setAccess(id, access)
		request := &tenantsv1.CancelOffboardingRequest{Actor: backoffice(), TenantId: id}
		requireRefused(t, problem.NotFound, f.offboarding.CancelOffboarding, request)
		f.offboard(id)
		call(t, f.offboarding.CancelOffboarding, request)
		_, err := f.resolve(key.GetApiKey())
		require.Equal(t, access, err == nil)
		require.False(t, f.settings(id).GetOffboarding())
		require.Len(t, f.offboard(id).GetSteps(), 3, "who did what stays")
	}
}

func TestAnOffboardingThatIsCancelledBeforeItIsAnsweredIsNotFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.tenant()
	f.redis.Del(t.Context(), tenants.VersionKey(id))
	require.NoError(t, f.redis.HSet(t.Context(), tenants.VersionKey(id), "not", "text").Err()) // It takes no version.
	answered := make(chan error)
	go func() {
		_, err := f.offboarding.OffboardTenant(t.Context(), &tenantsv1.OffboardTenantRequest{Actor: backoffice(), TenantId: id})
		answered <- err
	}()
	cancelled := func() bool {
		_, err := store.New(f.pool).CancelOffboarding(t.Context(), id, backoffice())
		return err == nil
	}
	require.Eventually(t, cancelled, 10*time.Second, time.Millisecond)
	f.redis.Del(t.Context(), tenants.VersionKey(id))
	err := <-answered
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestAnErasureThatHasBegunCannotBeCancelled(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.tenant()
	f.offboard(id)
	pgtest.Exec(t, f.pool, `UPDATE offboardings SET state = 'ERASING'`)
	requireRefused(t, problem.NotEditable, f.offboarding.CancelOffboarding, &tenantsv1.CancelOffboardingRequest{
		Actor: backoffice(), TenantId: id,
	})
	requireRefused(t, problem.NotEditable, f.offboarding.ExportTenant, &tenantsv1.ExportTenantRequest{
		Actor: backoffice(), TenantId: id,
	})
}

func TestRequestsToOffboardAreChecked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.tenant()
	invalid(t, f.offboarding.OffboardTenant, &tenantsv1.OffboardTenantRequest{}, "actor required", "tenantId required")
	for _, grace := range []time.Duration{0, time.Hour, 366 * 24 * time.Hour} {
		invalid(t, f.offboarding.OffboardTenant, &tenantsv1.OffboardTenantRequest{
			Actor: backoffice(), TenantId: id, GracePeriod: durationpb.New(grace),
		}, "gracePeriod invalid")
	}
	requireRefused(t, problem.NotFound, f.offboarding.OffboardTenant, &tenantsv1.OffboardTenantRequest{
		Actor: backoffice(), TenantId: newID(),
	})
	require.False(t, f.settings(id).GetOffboarding())
}

func TestTheExportHasAllServicesAndSaysWhoAsked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id, other := f.tenant(), f.tenant()
	key := f.createKey(id)
	f.createKey(other)
	f.brand(id, "Shop")
	f.brand(other, "Shop")
	f.offboard(id)
	var lines string
	req := &tenantsv1.ExportTenantRequest{Actor: backoffice(), TenantId: id}
	for n := 0; n == 0 || req.After != nil; n++ {
		page := call(t, f.offboarding.ExportTenant, req)
		lines += string(page.GetLines())
		req.After = page.NextCursor
		require.Less(t, n, 10)
	}
	require.Contains(t, lines, `{"service":"tenants","table":"brands","row":{`)
	require.Contains(t, lines,
		`{"service":"orders","table":"orders","row":{"n":1}}`+"\n"+`{"service":"orders","table":"orders","row":{"n":2}}`+"\n")
	require.NotContains(t, lines, other)
	require.NotContains(t, lines, key.GetWebhookSecret())
	require.NotContains(t, lines, "hash")
	steps := call(t, f.offboarding.GetOffboarding, &tenantsv1.GetOffboardingRequest{
		Actor: backoffice(), TenantId: id,
	}).GetOffboarding().GetSteps()
	require.Len(t, steps, 2, "one for all pages")
	require.Equal(t, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_EXPORT, steps[1].GetAction())
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"s":1}`))
	for range 2 {
		call(t, f.offboarding.ExportTenant, &tenantsv1.ExportTenantRequest{Actor: staff, TenantId: id, After: &forged})
	}
	steps = call(t, f.offboarding.GetOffboarding, &tenantsv1.GetOffboardingRequest{
		Actor: backoffice(), TenantId: id,
	}).GetOffboarding().GetSteps()
	require.Len(t, steps, 3, "who begins with a cursor is on record too")
	require.Equal(t, staff.GetId(), steps[2].GetActor().GetId())
	for _, after := range []string{"x", strings.Repeat("A", 8)} {
		req.After = &after
		invalid(t, f.offboarding.ExportTenant, req, "after invalid")
	}
}

// Every step of an off-boarding changes only its tenant, though others are in the state that the step looks for.
func TestAnOffboardingLeavesOtherTenantsAlone(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	s := store.New(f.pool)
	disabled, erasing, erased, mine := f.tenant(), f.tenant(), f.tenant(), f.tenant()
	f.createKey(disabled)
	begin := func(tenantID string) (keyIDs []int32) {
		keyIDs, begun, err := s.BeginErasure(t.Context(), tenantID, 0)
		require.NoError(t, err)
		require.True(t, begun)
		return keyIDs
	}
	for _, id := range []string{disabled, erasing, erased} {
		_, err := s.Offboard(t.Context(), id, store.System(), 0)
		require.NoError(t, err)
	}
	begin(erasing)
	begin(erased)
	require.NoError(t, s.FinishErasure(t.Context(), erased))
	others := func() string {
		return pgtest.Value[string](t, f.pool,
			"SELECT jsonb_agg(o ORDER BY tenant_id)::text FROM offboardings o WHERE tenant_id <> $1", mine)
	}
	before := others()

	f.setAccess(mine, false)
	_, err := s.Offboard(t.Context(), mine, store.System(), 0)
	require.NoError(t, err)
	_, err = s.CancelOffboarding(t.Context(), mine, store.System())
	require.NoError(t, err)
	access := pgtest.Value[bool](t, f.pool, "SELECT api_access FROM tenants WHERE id = $1", mine)
	require.False(t, access, "as it was before the off-boarding")

	_, err = s.Offboard(t.Context(), mine, store.System(), 0)
	require.NoError(t, err)
	require.Empty(t, begin(mine), "the key is that of another tenant")
	require.NoError(t, s.RecordWait(t.Context(), mine, []string{"orders"}))
	require.NoError(t, s.FinishErasure(t.Context(), mine))
	require.NoError(t, s.CheckedErasure(t.Context(), mine, false))
	require.NoError(t, s.TryAgain(t.Context(), mine, time.Hour))
	require.Equal(t, before, others())
}
