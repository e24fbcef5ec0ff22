package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// post is the context of a POST by a key of the tenant; with brands, the key is limited to them.
func (f *fixture) post(idempotencyKey string, brands ...string) context.Context {
	f.t.Helper()
	p := caller.Principal{TenantID: f.tenant, TenantVersion: f.settings, KeyID: 7, KeyName: "Shop", AllBrands: len(brands) == 0, BrandIDs: brands}
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
	rows, err := f.pool.Query(t.Context(), "SELECT type, subject_id, data, origin_key_id, tenant_id, event_id FROM outbox ORDER BY recorded_at, id")
	require.NoError(t, err)
	var (
		e      recorded
		at     seal.EventPlace
		sealed []byte
		reader = sealtest.Reader(t, eventKeys)
	)
	_, err = pgx.ForEachRow(rows, []any{&e.kind, &e.subject, &sealed, &e.origin, &at.TenantID, &at.EventID}, func() error {
		data, err := reader.Open(t.Context(), at, sealed)
		e.data = string(data)
		all = append(all, e)
		return err
	})
	require.NoError(t, err)
	return all
}

// kinds returns the types of a link's events, in their order.
func (f *fixture) kinds(t *testing.T, linkID string) []string {
	t.Helper()
	var kinds []string
	for _, e := range f.events(t) {
		if e.subject == linkID {
			kinds = append(kinds, e.kind)
		}
	}
	return kinds
}

func TestABatchMakesALinkPerRecipient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	bob := &linksv1.PersonalLinkRecipient{
		Label: "Bob", ExternalRecipientId: new("player-2"), Email: new("bob@example.com"), Message: new("Well played"),
		Locale: new("sv-SE"), ManagerEmail: new("Mia@Example.com"),
	}
	results := f.create(t, f.toCampaign(ann(), bob))

	for i, r := range results {
		require.EqualValues(t, i, r.GetIndex())
		require.Equal(t, linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_CREATED, r.GetOutcome())
		require.Nil(t, r.GetErrors())
		link := r.GetLink()
		require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_ACTIVE, link.GetStatus())
		require.Equal(t, f.brand, link.GetBrandId())
		require.Equal(t, f.campaign, link.GetCampaignId())
		require.Nil(t, link.Selection)
		require.Regexp(t, `^https://gifts\.example\.com/c/a[A-Za-z0-9_-]{24}$`, link.GetClaimUrl())
		got, err := f.client.GetPersonalLink(f.as(f.everyBrand()), &linksv1.GetPersonalLinkRequest{LinkId: link.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(link, got.GetLink()), "a read returns the same record")
	}
	require.Nil(t, results[0].ExternalRecipientId)
	require.Equal(t, "player-2", results[1].GetExternalRecipientId())
	require.NotEqual(t, results[0].GetLink().GetClaimUrl(), results[1].GetLink().GetClaimUrl())

	t.Run("with one event each, in the order of the recipients", func(t *testing.T) {
		events := f.events(t)
		require.Len(t, events, 2)
		for i, e := range events {
			data, err := restjson.Marshal(results[i].GetLink())
			require.NoError(t, err)
			require.Equal(t, recorded{"personal_link.created", results[i].GetLink().GetId(), string(data), 7}, e)
		}
	})
	t.Run("and what the team sees is sealed", func(t *testing.T) {
		link, err := f.store.Get(t.Context(), f.tenant, results[1].GetLink().GetId())
		require.NoError(t, err)
		require.Equal(t, "Bob", link.Details.Label)
		require.Equal(t, "Well played", link.Details.Message)
		require.Equal(t, "bob@example.com", link.Details.Email)
		require.Equal(t, "sv-SE", link.Locale)
		require.Equal(t, aMember, *link.ManagerID)
	})
}

func TestABatchForGiftsOfTheCatalog(t *testing.T) {
	t.Parallel()
	f := setup(t)
	req := f.toGifts(ann())
	req.ProductIds.Ids = []string{strings.ToUpper(mugID), mugID, jerseyID}
	link := f.create(t, req)[0].GetLink()
	require.Equal(t, linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG, link.GetSelection())
	require.Nil(t, link.CampaignId)
	require.Equal(t, f.brand, link.GetBrandId())
	stored, err := f.store.Get(t.Context(), f.tenant, link.GetId())
	require.NoError(t, err)
	require.Equal(t, []string{mugID, jerseyID}, stored.ProductIDs, "each once")
}

func TestLinksWaitIfTheTenantApprovesThem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = true })
	link := f.newLink(t)
	require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_REQUESTED, link.GetStatus())
	require.Nil(t, link.GetApprovedAt())
	require.Contains(t, f.events(t)[0].data, `"status":"REQUESTED"`)
}

func TestEveryErrorOfARecipient(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("å", n) }
	text, box := newID(), newID()
	list := "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"
	answer := func(id string, value any) *linksv1.PersonalLinkAnswer {
		a := &linksv1.PersonalLinkAnswer{FieldId: id}
		switch v := value.(type) {
		case string:
			a.TextValue = &v
		case bool:
			a.Checked = &v
		}
		return a
	}
	for name, c := range map[string]struct {
		change func(r *linksv1.PersonalLinkRecipient)
		want   []string
	}{
		"no label":                     {func(r *linksv1.PersonalLinkRecipient) { r.Label = "" }, []string{"label required"}},
		"a blank label":                {func(r *linksv1.PersonalLinkRecipient) { r.Label = " \t" }, []string{"label required"}},
		"a label of 256":               {func(r *linksv1.PersonalLinkRecipient) { r.Label = long(256) }, []string{"label too_long"}},
		"a label of 255":               {func(r *linksv1.PersonalLinkRecipient) { r.Label = long(255) }, nil},
		"no e-mail address":            {func(r *linksv1.PersonalLinkRecipient) { r.Email = new("ann") }, []string{"email invalid"}},
		"a blank e-mail":               {func(r *linksv1.PersonalLinkRecipient) { r.Email = new(" ") }, nil},
		"an e-mail of 256":             {func(r *linksv1.PersonalLinkRecipient) { r.Email = new(strings.Repeat("a", 244) + "@example.com") }, []string{"email too_long"}},
		"a message of 256":             {func(r *linksv1.PersonalLinkRecipient) { r.Message = new(long(256)) }, []string{"message too_long"}},
		"a recipient id of 129":        {func(r *linksv1.PersonalLinkRecipient) { r.ExternalRecipientId = new(long(129)) }, []string{"externalRecipientId too_long"}},
		"a locale that is not enabled": {func(r *linksv1.PersonalLinkRecipient) { r.Locale = new("de-DE") }, []string{"locale not_enabled"}},
		"a blank locale":               {func(r *linksv1.PersonalLinkRecipient) { r.Locale = new("") }, nil},
		"an unknown manager":           {func(r *linksv1.PersonalLinkRecipient) { r.ManagerEmail = new("no@example.com") }, []string{"managerEmail manager_not_found"}},
		"a former manager":             {func(r *linksv1.PersonalLinkRecipient) { r.ManagerEmail = new("gone@example.com") }, []string{"managerEmail manager_not_found"}},
		"a field id that is not a UUID": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer("42", "x"))
		}, []string{"customFields[1].fieldId invalid"}},
		"a field answered twice": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer(strings.ToUpper(list), "Gold"))
		}, []string{"customFields[1].fieldId invalid"}},
		"a required field unanswered": {func(r *linksv1.PersonalLinkRecipient) { r.CustomFields = nil }, []string{"customFields invalid"}},
		"an unknown option": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields[0].TextValue = new("Tin")
		}, []string{"customFields invalid"}},
		"a text for a checkbox": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer(box, "yes"))
		}, []string{"customFields invalid"}},
		"a tick for a text": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer(text, true))
		}, []string{"customFields invalid"}},
		"an answer of 2001": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer(text, long(2001)))
		}, []string{"customFields invalid"}},
		"answers that fit, and one to an unknown field": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer(text, long(2000)), answer(box, false), answer(newID(), "x"))
		}, nil},
		"several errors": {func(r *linksv1.PersonalLinkRecipient) {
			r.Label, r.Locale, r.Email = "", new("xx"), new("x")
		}, []string{"label required", "locale not_enabled", "email invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupAlone(t)
			f.changeTenant(func(s *tenantsv1.Tenant) {
				s.CustomFields = []*tenantsv1.CustomField{
					{Id: text, Label: "Note", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT},
					{Id: list, Label: "Tier", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN, Required: true, Options: []string{"Gold"}},
					{Id: box, Label: "VIP", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX},
				}
			})
			invalid, good := ann(), ann()
			invalid.CustomFields, good.CustomFields = []*linksv1.PersonalLinkAnswer{answer(list, "Gold")}, []*linksv1.PersonalLinkAnswer{answer(list, "Gold")}
			c.change(invalid)
			results := f.create(t, f.toCampaign(invalid, good))
			require.NotNil(t, results[1].GetLink(), "the other recipient gets a link")
			var got []string
			for _, e := range results[0].GetErrors().GetErrors() {
				require.NotEmpty(t, e.GetMessage())
				got = append(got, e.GetField()+" "+e.GetCode())
			}
			require.ElementsMatch(t, c.want, got)
			links := 2
			if c.want != nil {
				links = 1
				require.Equal(t, linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_REJECTED, results[0].GetOutcome())
				require.Nil(t, results[0].GetLink())
				require.Equal(t, invalid.ExternalRecipientId, results[0].ExternalRecipientId)
			}
			require.Equal(t, links, f.count(t, "links"))
			require.Equal(t, links, f.count(t, "outbox"))
		})
	}
}

func TestTheSameEMailTwiceIsADuplicateEvenOfARejectedRecipient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	first, second, third := ann(), ann(), ann()
	first.Label = ""
	first.Email, second.Email, third.Email = new("a@example.com"), new("A@Example.com"), new("b@example.com")
	results := f.create(t, f.toCampaign(first, second, third))
	require.Equal(t, "duplicate", results[1].GetErrors().GetErrors()[0].GetCode())
	require.Equal(t, "email", results[1].GetErrors().GetErrors()[0].GetField())
	require.NotNil(t, results[2].GetLink())
	require.NotNil(t, f.create(t, f.toCampaign(second))[0].GetLink(), "another batch may use the address")
}

func TestABatchOfRejectedRecipientsOnlyMakesNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Nil(t, f.create(t, f.toCampaign(&linksv1.PersonalLinkRecipient{}))[0].GetLink())
	require.Zero(t, f.count(t, "links"))
	require.Zero(t, f.count(t, "link_batches"))
	require.Zero(t, f.count(t, "outbox"))
}

func TestErrorsInTheSelectionsAreReportedTogether(t *testing.T) {
	t.Parallel()
	f := setup(t)
	none := &linksv1.ProductIds{}
	for name, c := range map[string]struct {
		req  *linksv1.CreatePersonalLinksRequest
		want []string
	}{
		"nothing":               {&linksv1.CreatePersonalLinksRequest{}, []string{"campaignId required"}},
		"blank ids":             {&linksv1.CreatePersonalLinksRequest{CampaignId: new(" "), BrandId: new("")}, []string{"campaignId required"}},
		"gifts without brand":   {&linksv1.CreatePersonalLinksRequest{ProductIds: none}, []string{"brandId required"}},
		"a brand without gifts": {&linksv1.CreatePersonalLinksRequest{BrandId: &f.brand}, []string{"productIds required"}},
		"campaign and brand": {
			&linksv1.CreatePersonalLinksRequest{CampaignId: &f.campaign, BrandId: &f.brand},
			[]string{"campaignId not_allowed_with_catalog_selection"},
		},
		"campaign and gifts": {
			&linksv1.CreatePersonalLinksRequest{CampaignId: &f.campaign, ProductIds: none},
			[]string{"campaignId not_allowed_with_catalog_selection"},
		},
		"invalid ids": {
			&linksv1.CreatePersonalLinksRequest{BrandId: new("1"), ProductIds: &linksv1.ProductIds{Ids: []string{mugID, "2"}}},
			[]string{"brandId invalid", "productIds[1] invalid"},
		},
		"an invalid campaign id": {&linksv1.CreatePersonalLinksRequest{CampaignId: new("1")}, []string{"campaignId invalid"}},
		"more gifts than a page can hold": {
			&linksv1.CreatePersonalLinksRequest{BrandId: &f.brand, ProductIds: &linksv1.ProductIds{Ids: make([]string, 1001)}},
			[]string{"productIds invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.client.CreatePersonalLinks(f.post(newID()), c.req)
			requireViolations(t, err, c.want...)
		})
	}
	t.Run("with the errors of the edge", func(t *testing.T) {
		ctx := f.as(f.everyBrand(), problem.Violation{Field: "recipients[3].label", Code: problem.FieldInvalid, Message: "must be a string"})
		_, err := f.client.CreatePersonalLinks(ctx, &linksv1.CreatePersonalLinksRequest{})
		requireViolations(t, err, "recipients[3].label invalid", "campaignId required")
	})
	require.Zero(t, f.count(t, "idempotency_answers"), "the keys stay free")
}

func TestProblemsOfTheWholeBatch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	foreign := newID()
	many := make([]*linksv1.PersonalLinkRecipient, 1001)
	for i := range many {
		many[i] = ann()
	}
	with := func(req *linksv1.CreatePersonalLinksRequest, change func(r *linksv1.CreatePersonalLinksRequest)) *linksv1.CreatePersonalLinksRequest {
		change(req)
		return req
	}
	noProducts := func(r *linksv1.CreatePersonalLinksRequest) { r.ProductIds.Ids = nil }
	for name, c := range map[string]struct {
		ctx     context.Context
		req     *linksv1.CreatePersonalLinksRequest
		failure error
		want    problem.Code
	}{
		"an unknown campaign":         {f.post(newID()), with(f.toCampaign(ann()), func(r *linksv1.CreatePersonalLinksRequest) { r.CampaignId = &foreign }), nil, problem.CampaignNotFound},
		"a campaign out of reach":     {f.post(newID(), foreign), f.toCampaign(ann()), nil, problem.CampaignNotFound},
		"a campaign that is over":     {f.post(newID()), f.toCampaign(ann()), problem.New(problem.CampaignNotActive, "over"), problem.CampaignNotActive},
		"an unknown brand":            {f.post(newID()), with(f.toGifts(ann()), func(r *linksv1.CreatePersonalLinksRequest) { r.BrandId = &foreign }), nil, problem.BrandNotFound},
		"a brand out of reach":        {f.post(newID(), foreign), f.toGifts(ann()), nil, problem.BrandNotFound},
		"an unknown gift":             {f.post(newID()), with(f.toGifts(ann()), func(r *linksv1.CreatePersonalLinksRequest) { r.ProductIds.Ids = []string{foreign} }), nil, problem.ProductNotFound},
		"a gift that was removed":     {f.post(newID()), f.toGifts(ann()), problem.New(problem.ProductNotAvailable, "gone"), problem.ProductNotAvailable},
		"no gifts":                    {f.post(newID()), with(f.toGifts(ann()), noProducts), nil, problem.NoProducts},
		"no recipients":               {f.post(newID()), f.toCampaign(), nil, problem.NoRecipients},
		"too many recipients":         {f.post(newID()), f.toCampaign(many...), nil, problem.TooManyRecipients},
		"the brand before the others": {f.post(newID(), foreign), with(f.toGifts(), noProducts), nil, problem.BrandNotFound},
		"gifts before recipients":     {f.post(newID()), with(f.toGifts(), noProducts), nil, problem.NoProducts},
		"the campaign before number":  {f.post(newID(), foreign), f.toCampaign(many...), nil, problem.CampaignNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f.catalog.failure = c.failure
			_, err := f.client.CreatePersonalLinks(c.ctx, c.req)
			require.True(t, problem.Is(err, c.want), "%v", err)
			_, err = f.client.CreatePersonalLinks(c.ctx, c.req)
			require.True(t, problem.Is(err, c.want), "a repetition gets it again: %v", err)
		})
	}
	require.Zero(t, f.count(t, "links"))
	require.Zero(t, f.count(t, "outbox"))
}

func TestAListThatTheEdgeCutsShortHasTooManyRecipients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, n := range []int{1001, 2000, 5000} {
		body := fmt.Sprintf(`{"campaignId":%q,"recipients":[{"label":"Ann"}%s]}`, f.campaign, strings.Repeat(`,{"label":"Ann"}`, n-1))
		req := &linksv1.CreatePersonalLinksRequest{}
		_, err := f.client.CreatePersonalLinks(f.as(f.everyBrand(), restjson.Unmarshal([]byte(body), req)...), req)
		require.True(t, problem.Is(err, problem.TooManyRecipients), "%d: %v", n, err)
	}
	t.Run("after the errors of the recipients that were read", func(t *testing.T) {
		req := &linksv1.CreatePersonalLinksRequest{}
		body := fmt.Sprintf(`{"campaignId":%q,"recipients":[{"label":1}%s]}`, f.campaign, strings.Repeat(`,{}`, 3000))
		_, err := f.client.CreatePersonalLinks(f.as(f.everyBrand(), restjson.Unmarshal([]byte(body), req)...), req)
		requireViolations(t, err, "recipients[0].label invalid")
	})
	t.Run("and something other than a list is an error itself", func(t *testing.T) {
		req := &linksv1.CreatePersonalLinksRequest{}
		body := fmt.Sprintf(`{"campaignId":%q,"recipients":{}}`, f.campaign)
		_, err := f.client.CreatePersonalLinks(f.as(f.everyBrand(), restjson.Unmarshal([]byte(body), req)...), req)
		requireViolations(t, err, "recipients invalid")
	})
}

func TestARepeatedBatchGetsTheFirstAnswerEvenIfItsLinksChanged(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	recipients := make([]*linksv1.PersonalLinkRecipient, 1000)
	for i := range recipients {
		recipients[i] = &linksv1.PersonalLinkRecipient{Label: fmt.Sprintf("Player %d", i), Email: new(fmt.Sprintf("p%d@example.com", i))}
	}
	recipients[500].Label = ""
	req := f.toCampaign(recipients...)
	first, err := f.client.CreatePersonalLinks(f.post("k"), req)
	require.NoError(t, err)
	require.Len(t, first.GetResults(), 1000)
	require.Equal(t, 999, f.count(t, "links"))
	require.Equal(t, 999, f.count(t, "outbox"))

	_, err = f.pool.Exec(t.Context(), "UPDATE links SET status = 'CANCELLED', cancelled_at = now(), updated_at = now()")
	require.NoError(t, err)
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = true })
	again, err := f.client.CreatePersonalLinks(f.post("k"), req)
	require.NoError(t, err)
	want, err := restjson.Marshal(first)
	require.NoError(t, err)
	got, err := restjson.Marshal(again)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	require.Equal(t, 999, f.count(t, "links"))

	t.Run("and the stored answer has no claim URL", func(t *testing.T) {
		var stored []byte
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT answer FROM idempotency_answers").Scan(&stored))
		require.NotContains(t, string(stored), "gifts.example.com")
		require.NotContains(t, string(stored), first.GetResults()[0].GetLink().GetClaimUrl()[len("https://gifts.example.com/c/"):])
	})
}

func TestConcurrentRequestsForTheSameBatchMakeItOnce(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	var answered, refused atomic.Int32
	var group errgroup.Group
	for range 20 {
		group.Go(func() error {
			resp, err := f.client.CreatePersonalLinks(f.post("k"), f.toCampaign(ann(), ann()))
			switch {
			case problem.Is(err, problem.IdempotencyInProgress):
				refused.Add(1)
				return nil
			case err == nil:
				answered.Add(int32(len(resp.GetResults())))
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 40, answered.Load()+2*refused.Load())
	require.Positive(t, answered.Load())
	require.Equal(t, 2, f.count(t, "links"))
	require.Equal(t, 2, f.count(t, "outbox"))
}

// BenchmarkABatchOfAThousand measures a call that makes a thousand links.
func BenchmarkABatchOfAThousand(b *testing.B) {
	f := setup(b)
	recipients := make([]*linksv1.PersonalLinkRecipient, 1000)
	for i := range recipients {
		recipients[i] = &linksv1.PersonalLinkRecipient{
			Label: fmt.Sprintf("Player %d", i), ExternalRecipientId: new(fmt.Sprintf("player-%d", i)),
			Email: new(fmt.Sprintf("p%d@example.com", i)), Message: new("Thank you for ten years with us!"),
		}
	}
	req := f.toCampaign(recipients...)
	for b.Loop() {
		_, err := f.client.CreatePersonalLinks(f.post(newID()), req)
		require.NoError(b, err)
	}
}
