package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// post is the context of a POST by a key of the tenant; with brands, the key is limited to them.
func (f *fixture) post(idempotencyKey string, brands ...string) context.Context {
	f.t.Helper()
	p := caller.Principal{
		TenantID: f.tenant, TenantVersion: f.settings, KeyID: 7, KeyName: "Shop", AllBrands: len(brands) == 0, BrandIDs: brands,
	}
	ctx, err := caller.Outgoing(f.t.Context(), p,
		caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(idempotencyKey), ID: "trace"})
	require.NoError(f.t, err)
	return ctx
}

func ann() *linksv1.PersonalLinkRecipient { return &linksv1.PersonalLinkRecipient{Label: "Marked Ann"} }

// toCampaign is a batch for the campaign.
func (f *fixture) toCampaign(recipients ...*linksv1.PersonalLinkRecipient) *linksv1.CreatePersonalLinksRequest {
	return &linksv1.CreatePersonalLinksRequest{CampaignId: &f.campaign, Recipients: recipients}
}

// toGifts is a batch for the mug of the catalog.
func (f *fixture) toGifts(recipients ...*linksv1.PersonalLinkRecipient) *linksv1.CreatePersonalLinksRequest {
	return &linksv1.CreatePersonalLinksRequest{
		BrandId: &f.brand, ProductIds: &linksv1.ProductIds{Ids: []string{mugID}}, Recipients: recipients,
	}
}

func (f *fixture) create(t *testing.T, req *linksv1.CreatePersonalLinksRequest) []*linksv1.PersonalLinkResult {
	t.Helper()
	resp, err := f.client.CreatePersonalLinks(f.post(newID()), req)
	require.NoError(t, err)
	require.Len(t, resp.GetResults(), len(req.GetRecipients()))
	return resp.GetResults()
}

// newLink makes one link to the campaign.
func (f *fixture) newLink(t *testing.T) *linksv1.PersonalLink {
	t.Helper()
	link := f.create(t, f.toCampaign(ann()))[0].GetLink()
	require.NotNil(t, link)
	return link
}

func (f *fixture) count(t *testing.T, table string) (n int) {
	t.Helper()
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// recorded is an event in the outbox, opened.
type recorded struct {
	kind, subject, data string
	origin              int32
}

func (f *fixture) events(t *testing.T) (all []recorded) {
	t.Helper()
	rows, err := f.pool.Query(t.Context(),
		"SELECT type, subject_id, data, origin_key_id, tenant_id, event_id FROM outbox ORDER BY recorded_at, id")
	require.NoError(t, err)
	var (
		e      recorded
		ref    seal.EventRef
		sealed []byte
		reader = sealtest.Reader(t, eventKeys)
	)
	_, err = pgx.ForEachRow(rows, []any{&e.kind, &e.subject, &sealed, &e.origin, &ref.TenantID, &ref.EventID}, func() error {
		data, err := reader.Open(t.Context(), ref, sealed)
		e.data = string(data)
		all = append(all, e)
		return err
	})
	require.NoError(t, err)
	return all
}

// kinds returns the types of a link's events, in their order.
func (f *fixture) kinds(t *testing.T, linkID string) (kinds []string) {
	t.Helper()
	for _, e := range f.events(t) {
		if e.subject == linkID {
			kinds = append(kinds, e.kind)
		}
	}
	return kinds
}

func TestABatchOfRejectedRecipientsOnlyMakesNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Nil(t, f.create(t, f.toCampaign(&linksv1.PersonalLinkRecipient{}))[0].GetLink())
	require.Zero(t, f.count(t, "links"))
	require.Zero(t, f.count(t, "link_batches"))
	require.Zero(t, f.count(t, "outbox"))
}

func TestProblemsOfTheWholeBatch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	foreign := newID()
	many := make([]*linksv1.PersonalLinkRecipient, 1001)
	for i := range many {
		many[i] = ann()
	}
	noGifts := func() *linksv1.CreatePersonalLinksRequest {
		req := f.toGifts()
		req.ProductIds.Ids = nil
		return req
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		req  *linksv1.CreatePersonalLinksRequest
		want problem.Code
	}{
		"the brand before the others": {f.post(newID(), foreign), noGifts(), problem.BrandNotFound},
		"gifts before recipients":     {f.post(newID()), noGifts(), problem.NoProducts},
		"the campaign before number":  {f.post(newID(), foreign), f.toCampaign(many...), problem.CampaignNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.client.CreatePersonalLinks(c.ctx, c.req)
			require.True(t, problem.Is(err, c.want), "%v", err)
			_, err = f.client.CreatePersonalLinks(c.ctx, c.req)
			require.True(t, problem.Is(err, c.want), "a repetition gets it again: %v", err)
		})
	}
	require.Zero(t, f.count(t, "links"))
	require.Zero(t, f.count(t, "outbox"))
}

func TestARefusedBatchIsOnlyForAKeyThatReachesItsCampaign(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.failure = problem.New(problem.CampaignNotActive, "no")
	_, err := f.client.CreatePersonalLinks(f.post("k", f.brand), f.toCampaign(ann()))
	require.True(t, problem.Is(err, problem.CampaignNotActive), "%v", err)
	f.catalog.failure = nil
	var header metadata.MD
	_, err = f.client.CreatePersonalLinks(f.post("k", newID()), f.toCampaign(ann()), grpc.Header(&header))
	require.True(t, problem.Is(err, problem.CampaignNotFound), "%v", err)
	require.Empty(t, header.Get(caller.ReplayedHeader))
}

func TestAListThatTheEdgeCutsShortHasTooManyRecipients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	create := func(recipients string) error {
		req := &linksv1.CreatePersonalLinksRequest{}
		violations := restjson.Unmarshal(fmt.Appendf(nil, `{"campaignId":%q,"recipients":%s}`, f.campaign, recipients), req)
		_, err := f.client.CreatePersonalLinks(f.keyContext(f.everyBrand(), violations...), req)
		return err
	}
	err := create(`[{"label":"Ann"}` + strings.Repeat(`,{"label":"Ann"}`, 5000) + `]`)
	require.True(t, problem.Is(err, problem.TooManyRecipients), "%v", err)
	requireViolations(t, create(`[{"label":1}`+strings.Repeat(`,{}`, 3000)+`]`), "recipients[0].label invalid")
	requireViolations(t, create("{}"), "recipients invalid")
}

func TestConcurrentRequestsForTheSameBatchMakeItOnce(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	answered := problemtest.AtOnce(t, 20, func(int) error {
		_, err := f.client.CreatePersonalLinks(f.post("k"), f.toCampaign(ann(), ann()))
		return err
	}, problem.IdempotencyInProgress)
	require.Positive(t, answered)
	require.Equal(t, 2, f.count(t, "links"))
	require.Equal(t, 2, f.count(t, "outbox"))
}
