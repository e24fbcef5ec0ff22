package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// post is a POST of a key of the tenant; with brands it is limited to them.
func (b *bench) post(idempotencyKey string, brands ...string) context.Context {
	b.t.Helper()
	p := caller.Principal{TenantID: b.tenant, KeyID: 7, KeyName: "Shop", AllBrands: len(brands) == 0, BrandIDs: brands}
	ctx, err := caller.Outgoing(b.t.Context(), p,
		caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(idempotencyKey), ID: "trace"})
	require.NoError(b.t, err)
	return ctx
}

func ann() *linksv1.PersonalLinkRecipient { return &linksv1.PersonalLinkRecipient{Label: "Marked Ann"} }

// toCampaign is a batch for the campaign.
func (b *bench) toCampaign(recipients ...*linksv1.PersonalLinkRecipient) *linksv1.CreatePersonalLinksRequest {
	return &linksv1.CreatePersonalLinksRequest{CampaignId: &b.campaign, Recipients: recipients}
}

// toGifts is a batch for the mug of the catalog.
func (b *bench) toGifts(recipients ...*linksv1.PersonalLinkRecipient) *linksv1.CreatePersonalLinksRequest {
	return &linksv1.CreatePersonalLinksRequest{
		BrandId: &b.brand, ProductIds: &linksv1.ProductIds{Ids: []string{mugID}}, Recipients: recipients,
	}
}

func (b *bench) create(t *testing.T, req *linksv1.CreatePersonalLinksRequest) []*linksv1.PersonalLinkResult {
	t.Helper()
	resp, err := b.client.CreatePersonalLinks(b.post(newID()), req)
	require.NoError(t, err)
	require.Len(t, resp.GetResults(), len(req.GetRecipients()))
	return resp.GetResults()
}

// newLink makes one link to the campaign.
func (b *bench) newLink(t *testing.T) *linksv1.PersonalLink {
	t.Helper()
	link := b.create(t, b.toCampaign(ann()))[0].GetLink()
	require.NotNil(t, link)
	return link
}

func (b *bench) count(t *testing.T, table string) (n int) {
	t.Helper()
	require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// recorded is an event in the outbox.
type recorded struct {
	kind, subject, data string
	origin              int32
}

func (b *bench) events(t *testing.T) (all []recorded) {
	t.Helper()
	rows, err := b.pool.Query(t.Context(), "SELECT type, subject_id, convert_from(data, 'UTF8'), origin_key_id FROM outbox ORDER BY recorded_at, id")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var e recorded
		require.NoError(t, rows.Scan(&e.kind, &e.subject, &e.data, &e.origin))
		all = append(all, e)
	}
	require.NoError(t, rows.Err())
	return all
}

// kinds of the events of one link, in their order.
func (b *bench) kinds(t *testing.T, linkID string) []string {
	t.Helper()
	var kinds []string
	for _, e := range b.events(t) {
		if e.subject == linkID {
			kinds = append(kinds, e.kind)
		}
	}
	return kinds
}

func TestABatchMakesALinkPerRecipient(t *testing.T) {
	b := setup(t)
	bob := &linksv1.PersonalLinkRecipient{
		Label: "Bob", ExternalRecipientId: pointer("player-2"), Email: pointer("bob@example.com"), Message: pointer("Well played"),
		Locale: pointer("sv-SE"), ManagerEmail: pointer("Mia@Example.com"),
	}
	results := b.create(t, b.toCampaign(ann(), bob))

	for i, r := range results {
		require.EqualValues(t, i, r.GetIndex())
		require.Equal(t, linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_CREATED, r.GetOutcome())
		require.Nil(t, r.GetErrors())
		link := r.GetLink()
		require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_ACTIVE, link.GetStatus())
		require.Equal(t, b.brand, link.GetBrandId())
		require.Equal(t, b.campaign, link.GetCampaignId())
		require.Nil(t, link.Selection)
		require.Regexp(t, `^https://gifts\.example\.com/c/[A-Za-z0-9_-]{24}$`, link.GetClaimUrl())
		got, err := b.client.GetPersonalLink(b.as(b.everyBrand()), &linksv1.GetPersonalLinkRequest{LinkId: link.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(link, got.GetLink()), "a read gives the same record")
	}
	require.Nil(t, results[0].ExternalRecipientId)
	require.Equal(t, "player-2", results[1].GetExternalRecipientId())
	require.NotEqual(t, results[0].GetLink().GetClaimUrl(), results[1].GetLink().GetClaimUrl())

	t.Run("with one event each, in the order of the recipients", func(t *testing.T) {
		events := b.events(t)
		require.Len(t, events, 2)
		for i, e := range events {
			data, err := restjson.Marshal(results[i].GetLink())
			require.NoError(t, err)
			require.Equal(t, recorded{"personal_link.created", results[i].GetLink().GetId(), string(data), 7}, e)
		}
	})
	t.Run("and what the team sees is kept sealed", func(t *testing.T) {
		link, err := b.store.Get(t.Context(), b.tenant, results[1].GetLink().GetId())
		require.NoError(t, err)
		require.Equal(t, "Bob", link.Details.Label)
		require.Equal(t, "Well played", link.Details.Message)
		require.Equal(t, "bob@example.com", link.Details.Email)
		require.Equal(t, "sv-SE", link.Locale)
		require.Equal(t, aMember, *link.ManagerID)
	})
}

func TestABatchForGiftsOfTheCatalog(t *testing.T) {
	b := setup(t)
	req := b.toGifts(ann())
	req.ProductIds.Ids = []string{strings.ToUpper(mugID), mugID, jerseyID}
	link := b.create(t, req)[0].GetLink()
	require.Equal(t, linksv1.PersonalLinkSelection_PERSONAL_LINK_SELECTION_CATALOG, link.GetSelection())
	require.Nil(t, link.CampaignId)
	require.Equal(t, b.brand, link.GetBrandId())
	stored, err := b.store.Get(t.Context(), b.tenant, link.GetId())
	require.NoError(t, err)
	require.Equal(t, []string{mugID, jerseyID}, stored.ProductIDs, "each once")
}

func TestLinksOfATenantThatApprovesWait(t *testing.T) {
	b := setup(t)
	b.directory.settings.Tenant.ApprovalRequired = true
	link := b.newLink(t)
	require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_REQUESTED, link.GetStatus())
	require.Nil(t, link.GetApprovedAt())
	require.Contains(t, b.events(t)[0].data, `"status":"REQUESTED"`)
}

func TestEveryFaultOfARecipient(t *testing.T) {
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
		"no label":              {func(r *linksv1.PersonalLinkRecipient) { r.Label = "" }, []string{"label required"}},
		"a blank label":         {func(r *linksv1.PersonalLinkRecipient) { r.Label = " \t" }, []string{"label required"}},
		"a label of 256":        {func(r *linksv1.PersonalLinkRecipient) { r.Label = long(256) }, []string{"label too_long"}},
		"a label of 255":        {func(r *linksv1.PersonalLinkRecipient) { r.Label = long(255) }, nil},
		"no e-mail address":     {func(r *linksv1.PersonalLinkRecipient) { r.Email = pointer("ann") }, []string{"email invalid"}},
		"a blank e-mail":        {func(r *linksv1.PersonalLinkRecipient) { r.Email = pointer(" ") }, nil},
		"an e-mail of 256":      {func(r *linksv1.PersonalLinkRecipient) { r.Email = pointer(strings.Repeat("a", 244) + "@example.com") }, []string{"email too_long"}},
		"a message of 256":      {func(r *linksv1.PersonalLinkRecipient) { r.Message = pointer(long(256)) }, []string{"message too_long"}},
		"a recipient id of 129": {func(r *linksv1.PersonalLinkRecipient) { r.ExternalRecipientId = pointer(long(129)) }, []string{"externalRecipientId too_long"}},
		"a locale that is off":  {func(r *linksv1.PersonalLinkRecipient) { r.Locale = pointer("de-DE") }, []string{"locale not_enabled"}},
		"a blank locale":        {func(r *linksv1.PersonalLinkRecipient) { r.Locale = pointer("") }, nil},
		"a manager of nobody":   {func(r *linksv1.PersonalLinkRecipient) { r.ManagerEmail = pointer("no@example.com") }, []string{"managerEmail manager_not_found"}},
		"a former manager":      {func(r *linksv1.PersonalLinkRecipient) { r.ManagerEmail = pointer("gone@example.com") }, []string{"managerEmail manager_not_found"}},
		"a field id that is no UUID": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer("42", "x"))
		}, []string{"customFields[1].fieldId invalid"}},
		"a field answered twice": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields = append(r.CustomFields, answer(strings.ToUpper(list), "Gold"))
		}, []string{"customFields[1].fieldId invalid"}},
		"a required field unanswered": {func(r *linksv1.PersonalLinkRecipient) { r.CustomFields = nil }, []string{"customFields invalid"}},
		"an option that is none": {func(r *linksv1.PersonalLinkRecipient) {
			r.CustomFields[0].TextValue = pointer("Tin")
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
		"several at once": {func(r *linksv1.PersonalLinkRecipient) {
			r.Label, r.Locale, r.Email = "", pointer("xx"), pointer("x")
		}, []string{"label required", "locale not_enabled", "email invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.directory.settings.Tenant.CustomFields = []*tenantsv1.CustomField{
				{Id: text, Label: "Note", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT},
				{Id: list, Label: "Tier", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN, Required: true, Options: []string{"Gold"}},
				{Id: box, Label: "VIP", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX},
			}
			faulty, good := ann(), ann()
			faulty.CustomFields, good.CustomFields = []*linksv1.PersonalLinkAnswer{answer(list, "Gold")}, []*linksv1.PersonalLinkAnswer{answer(list, "Gold")}
			c.change(faulty)
			results := b.create(t, b.toCampaign(faulty, good))
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
				require.Equal(t, faulty.ExternalRecipientId, results[0].ExternalRecipientId)
			}
			require.Equal(t, links, b.count(t, "links"))
			require.Equal(t, links, b.count(t, "outbox"))
		})
	}
}

func TestTheSameEMailTwiceIsADuplicateAlsoOfARejectedRecipient(t *testing.T) {
	b := setup(t)
	first, second, third := ann(), ann(), ann()
	first.Label = ""
	first.Email, second.Email, third.Email = pointer("a@example.com"), pointer("A@Example.com"), pointer("b@example.com")
	results := b.create(t, b.toCampaign(first, second, third))
	require.Equal(t, "duplicate", results[1].GetErrors().GetErrors()[0].GetCode())
	require.Equal(t, "email", results[1].GetErrors().GetErrors()[0].GetField())
	require.NotNil(t, results[2].GetLink())
	require.NotNil(t, b.create(t, b.toCampaign(second))[0].GetLink(), "another batch knows nothing of it")
}

func TestABatchOfRejectedRecipientsOnlyMakesNothing(t *testing.T) {
	b := setup(t)
	require.Nil(t, b.create(t, b.toCampaign(&linksv1.PersonalLinkRecipient{}))[0].GetLink())
	require.Zero(t, b.count(t, "links"))
	require.Zero(t, b.count(t, "link_batches"))
	require.Zero(t, b.count(t, "outbox"))
}

func TestFaultsInTheSelectionsAreReportedTogether(t *testing.T) {
	b := setup(t)
	none := &linksv1.ProductIds{}
	for name, c := range map[string]struct {
		req  *linksv1.CreatePersonalLinksRequest
		want []string
	}{
		"nothing":               {&linksv1.CreatePersonalLinksRequest{}, []string{"campaignId required"}},
		"blank ids":             {&linksv1.CreatePersonalLinksRequest{CampaignId: pointer(" "), BrandId: pointer("")}, []string{"campaignId required"}},
		"gifts without brand":   {&linksv1.CreatePersonalLinksRequest{ProductIds: none}, []string{"brandId required"}},
		"a brand without gifts": {&linksv1.CreatePersonalLinksRequest{BrandId: &b.brand}, []string{"productIds required"}},
		"campaign and brand": {
			&linksv1.CreatePersonalLinksRequest{CampaignId: &b.campaign, BrandId: &b.brand},
			[]string{"campaignId not_allowed_with_catalog_selection"},
		},
		"campaign and gifts": {
			&linksv1.CreatePersonalLinksRequest{CampaignId: &b.campaign, ProductIds: none},
			[]string{"campaignId not_allowed_with_catalog_selection"},
		},
		"ids that are none": {
			&linksv1.CreatePersonalLinksRequest{BrandId: pointer("1"), ProductIds: &linksv1.ProductIds{Ids: []string{mugID, "2"}}},
			[]string{"brandId invalid", "productIds[1] invalid"},
		},
		"a campaign id that is none": {&linksv1.CreatePersonalLinksRequest{CampaignId: pointer("1")}, []string{"campaignId invalid"}},
		"more gifts than a page can hold": {
			&linksv1.CreatePersonalLinksRequest{BrandId: &b.brand, ProductIds: &linksv1.ProductIds{Ids: make([]string, 1001)}},
			[]string{"productIds invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.client.CreatePersonalLinks(b.post(newID()), c.req)
			requireFaults(t, err, c.want...)
		})
	}
	t.Run("with those of the edge", func(t *testing.T) {
		ctx := b.as(b.everyBrand(), problem.Violation{Field: "recipients[3].label", Code: problem.FieldInvalid, Message: "must be a string"})
		_, err := b.client.CreatePersonalLinks(ctx, &linksv1.CreatePersonalLinksRequest{})
		requireFaults(t, err, "recipients[3].label invalid", "campaignId required")
	})
	require.Zero(t, b.count(t, "idempotency_answers"), "the keys stay free")
}

func TestProblemsOfTheWholeBatch(t *testing.T) {
	b := setup(t)
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
		ctx   context.Context
		req   *linksv1.CreatePersonalLinksRequest
		fault error
		want  problem.Code
	}{
		"an unknown campaign":        {b.post(newID()), with(b.toCampaign(ann()), func(r *linksv1.CreatePersonalLinksRequest) { r.CampaignId = &foreign }), nil, problem.CampaignNotFound},
		"a campaign out of reach":    {b.post(newID(), foreign), b.toCampaign(ann()), nil, problem.CampaignNotFound},
		"a campaign that is over":    {b.post(newID()), b.toCampaign(ann()), problem.New(problem.CampaignNotActive, "over"), problem.CampaignNotActive},
		"an unknown brand":           {b.post(newID()), with(b.toGifts(ann()), func(r *linksv1.CreatePersonalLinksRequest) { r.BrandId = &foreign }), nil, problem.BrandNotFound},
		"a brand out of reach":       {b.post(newID(), foreign), b.toGifts(ann()), nil, problem.BrandNotFound},
		"an unknown gift":            {b.post(newID()), with(b.toGifts(ann()), func(r *linksv1.CreatePersonalLinksRequest) { r.ProductIds.Ids = []string{foreign} }), nil, problem.ProductNotFound},
		"a gift that left":           {b.post(newID()), b.toGifts(ann()), problem.New(problem.ProductNotAvailable, "gone"), problem.ProductNotAvailable},
		"no gifts":                   {b.post(newID()), with(b.toGifts(ann()), noProducts), nil, problem.NoProducts},
		"no recipients":              {b.post(newID()), b.toCampaign(), nil, problem.NoRecipients},
		"too many recipients":        {b.post(newID()), b.toCampaign(many...), nil, problem.TooManyRecipients},
		"the brand before the rest":  {b.post(newID(), foreign), with(b.toGifts(), noProducts), nil, problem.BrandNotFound},
		"gifts before recipients":    {b.post(newID()), with(b.toGifts(), noProducts), nil, problem.NoProducts},
		"the campaign before number": {b.post(newID(), foreign), b.toCampaign(many...), nil, problem.CampaignNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			b.catalog.fault = c.fault
			_, err := b.client.CreatePersonalLinks(c.ctx, c.req)
			require.True(t, problem.Is(err, c.want), "%v", err)
			_, err = b.client.CreatePersonalLinks(c.ctx, c.req)
			require.True(t, problem.Is(err, c.want), "a repetition meets it again: %v", err)
		})
	}
	require.Zero(t, b.count(t, "links"))
	require.Zero(t, b.count(t, "outbox"))
}

func TestFarTooManyRecipientsAreTooManyToo(t *testing.T) {
	b := setup(t)
	for _, n := range []int{1001, 2000, 5000} {
		body := fmt.Sprintf(`{"campaignId":%q,"recipients":[{"label":"Ann"}%s]}`, b.campaign, strings.Repeat(`,{"label":"Ann"}`, n-1))
		req := &linksv1.CreatePersonalLinksRequest{}
		_, err := b.client.CreatePersonalLinks(b.as(b.everyBrand(), restjson.Unmarshal([]byte(body), req)...), req)
		require.True(t, problem.Is(err, problem.TooManyRecipients), "%d: %v", n, err)
	}
	t.Run("after the faults of those that were read", func(t *testing.T) {
		req := &linksv1.CreatePersonalLinksRequest{}
		body := fmt.Sprintf(`{"campaignId":%q,"recipients":[{"label":1}%s]}`, b.campaign, strings.Repeat(`,{}`, 3000))
		_, err := b.client.CreatePersonalLinks(b.as(b.everyBrand(), restjson.Unmarshal([]byte(body), req)...), req)
		requireFaults(t, err, "recipients[0].label invalid")
	})
	t.Run("and a list that is none is at fault itself", func(t *testing.T) {
		req := &linksv1.CreatePersonalLinksRequest{}
		body := fmt.Sprintf(`{"campaignId":%q,"recipients":{}}`, b.campaign)
		_, err := b.client.CreatePersonalLinks(b.as(b.everyBrand(), restjson.Unmarshal([]byte(body), req)...), req)
		requireFaults(t, err, "recipients invalid")
	})
}

func TestARepeatedBatchGetsTheFirstAnswerWhateverHasBecomeOfTheLinks(t *testing.T) {
	b := setup(t)
	recipients := make([]*linksv1.PersonalLinkRecipient, 1000)
	for i := range recipients {
		recipients[i] = &linksv1.PersonalLinkRecipient{Label: fmt.Sprintf("Player %d", i), Email: pointer(fmt.Sprintf("p%d@example.com", i))}
	}
	recipients[500].Label = ""
	req := b.toCampaign(recipients...)
	first, err := b.client.CreatePersonalLinks(b.post("k"), req)
	require.NoError(t, err)
	require.Len(t, first.GetResults(), 1000)
	require.Equal(t, 999, b.count(t, "links"))
	require.Equal(t, 999, b.count(t, "outbox"))

	_, err = b.pool.Exec(t.Context(), "UPDATE links SET status = 'CANCELLED', cancelled_at = now(), updated_at = now()")
	require.NoError(t, err)
	b.directory.settings.Tenant.ApprovalRequired = true
	again, err := b.client.CreatePersonalLinks(b.post("k"), req)
	require.NoError(t, err)
	want, err := restjson.Marshal(first)
	require.NoError(t, err)
	got, err := restjson.Marshal(again)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	require.Equal(t, 999, b.count(t, "links"))

	t.Run("and no claim URL stands in the stored answer", func(t *testing.T) {
		var stored []byte
		require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT answer FROM idempotency_answers").Scan(&stored))
		require.NotContains(t, string(stored), "gifts.example.com")
		require.NotContains(t, string(stored), first.GetResults()[0].GetLink().GetClaimUrl()[len("https://gifts.example.com/c/"):])
	})
}

func TestTheSameBatchManyTimesAtOnceIsMadeOnce(t *testing.T) {
	b := setup(t)
	var answered, refused atomic.Int32
	var group errgroup.Group
	for range 20 {
		group.Go(func() error {
			resp, err := b.client.CreatePersonalLinks(b.post("k"), b.toCampaign(ann(), ann()))
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
	require.Equal(t, 2, b.count(t, "links"))
	require.Equal(t, 2, b.count(t, "outbox"))
}
