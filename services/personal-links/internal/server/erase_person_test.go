package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	"github.com/partnergifting/platform/pkg/seal"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const player = "marked-player-1"

// personalLink makes a link with a value in every field that may say something about a person.
func (f *fixture) personalLink(t *testing.T) *linksv1.PersonalLink {
	t.Helper()
	recipient := &linksv1.PersonalLinkRecipient{Label: "Marked Ann", Email: new("marked@example.com"), Message: new("Marked message")}
	for _, name := range personalTexts() {
		field := recipient.ProtoReflect().Descriptor().Fields().ByName(name)
		recipient.ProtoReflect().Set(field, protoreflect.ValueOfString("Marked "+string(name)))
	}
	recipient.ExternalRecipientId = new(player)
	return f.create(t, f.toCampaign(recipient))[0].GetLink()
}

// personalTexts are the texts of a link that an erasure removes.
func personalTexts() (names []protoreflect.Name) {
	link := &linksv1.PersonalLink{}
	fields := link.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Kind() == protoreflect.StringKind && field.HasOptionalKeyword() {
			link.ProtoReflect().Set(field, protoreflect.ValueOfString("x"))
		}
	}
	rules.EraseInAnswer(link)
	for i := range fields.Len() {
		if field := fields.Get(i); link.ProtoReflect().Get(field).String() == seal.Erased {
			names = append(names, field.Name())
		}
	}
	return names
}

// copyToOtherTenant gives another tenant links that equal those of the tenant, under the same ids.
func (f *fixture) copyToOtherTenant(t *testing.T) (tenant string) {
	t.Helper()
	tenant = newID()
	_, err := f.pool.Exec(t.Context(), `INSERT INTO links SELECT (jsonb_populate_record(l,
  jsonb_build_object('tenant_id', $1::text, 'token_hash', NULL))).* FROM links l`, tenant)
	require.NoError(t, err)
	return tenant
}

func (f *fixture) rowsOf(t *testing.T, tenant string) []map[string]any {
	t.Helper()
	rows, err := f.pool.Query(t.Context(), "SELECT to_jsonb(l) FROM links l WHERE tenant_id = $1 ORDER BY id", tenant)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[map[string]any])
	require.NoError(t, err)
	return found
}

func (f *fixture) eraseRecords(t *testing.T, links ...*linksv1.PersonalLink) ([]*privacyv1.PersonRecord, error) {
	t.Helper()
	req := &privacyv1.ErasePersonRecordsRequest{TenantId: f.tenant, RequestedBy: operator(), RecordIds: []string{newID()}}
	for _, l := range links {
		req.RecordIds = append(req.RecordIds, l.GetId())
	}
	resp, err := f.personal.ErasePersonRecords(t.Context(), req)
	return resp.GetRecords(), err
}

func TestStoredAnswersOfAnErasedLinkAreErased(t *testing.T) {
	t.Parallel()
	f := setup(t)
	batch := f.toCampaign(
		&linksv1.PersonalLinkRecipient{Label: "Ann", ExternalRecipientId: new(player)},
		&linksv1.PersonalLinkRecipient{Label: "Bo", ExternalRecipientId: new("another")},
	)
	made, err := f.client.CreatePersonalLinks(f.post("batch"), batch)
	require.NoError(t, err)
	link := made.GetResults()[0].GetLink()
	cancelled, err := f.client.CancelPersonalLink(f.post("cancel"), cancelOf(link))
	require.NoError(t, err)
	require.Equal(t, player, cancelled.GetLink().GetExternalRecipientId())
	other := f.create(t, f.toGifts(&linksv1.PersonalLinkRecipient{Label: "Ann", ExternalRecipientId: new(player)}))[0].GetLink()
	otherCancelled, err := f.client.CancelPersonalLink(f.post("other"), cancelOf(other))
	require.NoError(t, err)
	var keys []int32
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT array_agg(DISTINCT key_id) FROM idempotency_answers").Scan(&keys))
	found, err := f.personal.FindPersonRecords(t.Context(), &privacyv1.FindPersonRecordsRequest{
		TenantId: f.tenant, PersonalLinkIds: []string{link.GetId()},
	})
	require.NoError(t, err)
	require.EqualValues(t, 2, found.GetUnpublished())
	for range 2 {
		_, err = f.personal.ErasePersonRecords(t.Context(), &privacyv1.ErasePersonRecordsRequest{
			TenantId: f.tenant, RequestedBy: operator(), RecordIds: []string{link.GetId()}, KeyIds: keys,
		})
		require.NoError(t, err)
		again, err := f.client.CreatePersonalLinks(f.post("batch"), batch)
		require.NoError(t, err)
		results := again.GetResults()
		require.Equal(t, link.GetId(), results[0].GetLink().GetId())
		require.Equal(t, "[erased]", results[0].GetLink().GetExternalRecipientId())
		require.Equal(t, "[erased]", results[0].GetExternalRecipientId())
		require.NotContains(t, again.String(), player)
		require.Equal(t, made.GetResults()[1].String(), results[1].String(), "that of another person")
		repeated, err := f.client.CancelPersonalLink(f.post("cancel"), cancelOf(link))
		require.NoError(t, err)
		require.Equal(t, "[erased]", repeated.GetLink().GetExternalRecipientId())
		repeated, err = f.client.CancelPersonalLink(f.post("other"), cancelOf(other))
		require.NoError(t, err)
		require.Equal(t, otherCancelled.String(), repeated.String(), "that of another link of the person")
	}
}

func TestWhoWasRejectedIsErasedFromStoredAnswers(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{"a recipient of a link": false, "one who has none": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			refused := f.toCampaign(
				&linksv1.PersonalLinkRecipient{Label: "Ann", ExternalRecipientId: new(player), Locale: new("xx-XX")},
				&linksv1.PersonalLinkRecipient{Label: "Bo", ExternalRecipientId: new("another"), Locale: new("xx-XX")},
			)
			_, err := f.client.CreatePersonalLinks(f.post("refused"), refused)
			require.NoError(t, err)
			req := &privacyv1.ErasePersonRecordsRequest{TenantId: f.tenant, RequestedBy: operator()}
			if named {
				req.ExternalRecipientId = new(player)
			} else {
				req.RecordIds = []string{f.personalLink(t).GetId()}
			}
			require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT array_agg(DISTINCT key_id) FROM idempotency_answers").Scan(&req.KeyIds))
			_, err = f.personal.ErasePersonRecords(t.Context(), req)
			require.NoError(t, err)
			again, err := f.client.CreatePersonalLinks(f.post("refused"), refused)
			require.NoError(t, err)
			require.Equal(t, "[erased]", again.GetResults()[0].GetExternalRecipientId())
			require.Equal(t, "another", again.GetResults()[1].GetExternalRecipientId())
			require.Equal(t, linksv1.PersonalLinkOutcome_PERSONAL_LINK_OUTCOME_REJECTED, again.GetResults()[0].GetOutcome())
		})
	}
}

// What an erasure does to the columns beside the texts. Every other column stays.
var (
	erasedColumns   = strings.Fields(`claim_url_sealed token_hash details_sealed`)
	countingColumns = strings.Fields(`status cancelled_at updated_at`)
)

func TestAnErasureChangesEveryColumnOfThePerson(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	open, claimed, cancelled := f.personalLink(t), f.personalLink(t), f.personalLink(t)
	f.claim(t, claimOf(claimed))
	f.cancel(t, "c", cancelled)
	other := f.copyToOtherTenant(t)
	before, others := f.rowsOf(t, f.tenant), f.rowsOf(t, other)
	records, err := f.eraseRecords(t, open, claimed, cancelled)
	require.NoError(t, err)
	require.Len(t, records, 3)
	after := f.rowsOf(t, f.tenant)
	erased := slices.Clone(erasedColumns)
	for _, name := range personalTexts() {
		erased = append(erased, string(name))
	}
	for i := range after {
		for column, value := range after[i] {
			switch {
			case column == "reason_sealed":
				require.Nil(t, value)
			case slices.Contains(erased, column):
				require.NotNil(t, before[i][column], column)
				require.NotEqual(t, before[i][column], value, column)
			case !slices.Contains(countingColumns, column):
				require.Equal(t, before[i][column], value, column)
			}
		}
	}
	for _, e := range f.events(t) {
		reported, err := seal.EraseEvent([]byte(e.data))
		require.NoError(t, err)
		require.NotContains(t, strings.ToLower(string(reported)), "marked", "an event of before")
	}
	require.Equal(t, others, f.rowsOf(t, other))

	for _, l := range []*linksv1.PersonalLink{open, claimed, cancelled} {
		read := f.read(t, l)
		require.Nil(t, read.ExternalRecipientId)
		require.Equal(t, "https://gifts.example.com/c/erased", read.GetClaimUrl())
		for _, gone := range []*linksv1.PersonalLink{l, read} {
			_, err = f.site.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: token(gone)})
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		}
	}
	require.Equal(t, rules.Cancelled, f.read(t, open).GetStatus())
	require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, f.kinds(t, open.GetId()))
	require.Equal(t, rules.Claimed, f.read(t, claimed).GetStatus())
	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, claimed.GetId()))
	t.Run("a repetition changes nothing", func(t *testing.T) {
		_, err := f.eraseRecords(t, open, claimed, cancelled)
		require.NoError(t, err)
		require.Equal(t, after, f.rowsOf(t, f.tenant))
	})
	require.Equal(t, 3, f.count(t, "link_audit WHERE action = 'ERASED' AND actor_id = 'op-1'"), "also after the repetition")
}

func TestAPersonsLinksAreFound(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link, another := f.personalLink(t), f.newLink(t)
	f.copyToOtherTenant(t)
	for name, req := range map[string]*privacyv1.FindPersonRecordsRequest{
		"by recipient": {ExternalRecipientId: new(player)},
		"by id":        {PersonalLinkIds: []string{link.GetId(), newID()}},
		"by both":      {ExternalRecipientId: new(player), PersonalLinkIds: []string{link.GetId()}},
	} {
		t.Run(name, func(t *testing.T) {
			req.TenantId = f.tenant
			resp, err := f.personal.FindPersonRecords(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, resp.GetRecords(), 1)
			require.Equal(t, link.GetId(), resp.GetRecords()[0].GetPersonalLinkId())
			require.Nil(t, resp.GetRecords()[0].OrderId)
		})
	}
	resp, err := f.personal.FindPersonRecords(t.Context(), &privacyv1.FindPersonRecordsRequest{
		TenantId: newID(), ExternalRecipientId: new(player), PersonalLinkIds: []string{another.GetId()},
	})
	require.NoError(t, err)
	require.Empty(t, resp.GetRecords(), "another tenant has none of them")
}

func TestAClaimThatACrashLeftIsReconciledBeforeItsLinkIsErased(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	placed, lost := f.personalLink(t), f.personalLink(t)
	orderID := newID()
	f.set(t, placed, "claim_order_id = '"+orderID+"', claim_lease_until = now()")
	f.set(t, lost, "claim_order_id = gen_random_uuid(), claim_lease_until = now()")
	f.orders.Place(orderID)
	records, err := f.eraseRecords(t, placed, lost)
	require.NoError(t, err)
	orders := map[string]string{}
	for _, r := range records {
		orders[r.GetPersonalLinkId()] = r.GetOrderId()
	}
	require.Equal(t, map[string]string{placed.GetId(): orderID, lost.GetId(): ""}, orders)
	require.Equal(t, rules.Claimed, f.read(t, placed).GetStatus())
	require.Equal(t, rules.Cancelled, f.read(t, lost).GetStatus())
}

// TestAnErasureAndClaimsRunOneAfterAnother: the erasure knows the order of a claim that came first, and no claim follows it.
func TestAnErasureAndClaimsRunOneAfterAnother(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.personalLink(t)
	var records []*privacyv1.PersonRecord
	// The link may be erased first, or a claim be ended for the erasure.
	problemtest.AtOnce(t, 4, func(i int) (err error) {
		if i == 0 {
			records, err = f.eraseRecords(t, link)
			return err
		}
		_, err = f.site.ClaimLink(t.Context(), claimOf(link))
		return err
	}, problem.NotFound, problem.ServiceUnavailable)
	require.Len(t, records, 1)
	orders := f.orders.Of(link.GetId())
	if records[0].OrderId == nil {
		require.Empty(t, orders)
	} else {
		require.Equal(t, []string{records[0].GetOrderId()}, orders)
	}
	require.Nil(t, f.rowsOf(t, f.tenant)[0]["details_sealed"])
}

func TestAnExportHasTheDetailsOfLinks(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.personalLink(t)
	f.copyToOtherTenant(t)
	export := func(ids ...string) (exported []any, text string) {
		resp, err := f.personal.ExportPersonRecords(t.Context(), &privacyv1.ExportPersonRecordsRequest{
			TenantId: f.tenant, RequestedBy: account(anAdministrator), RecordIds: ids,
		})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(resp.GetDocument(), &exported))
		return exported, string(resp.GetDocument())
	}
	exported, text := export(link.GetId(), newID())
	require.Len(t, exported, 1)
	for _, part := range []string{player, "Marked Ann", "Marked message", "marked@example.com", link.GetClaimUrl(), `"ACTIVE"`} {
		require.Contains(t, text, part)
	}
	require.Equal(t, 1, f.count(t, "link_audit WHERE action = 'EXPORTED' AND actor_id = '"+anAdministrator+"'"))
	none, _ := export()
	require.Empty(t, none)
}

func TestAnExportThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	var recipients []*linksv1.PersonalLinkRecipient
	f.changeTenant(func(s *tenantsv1.Tenant) {
		var answers []*linksv1.PersonalLinkAnswer
		for range 100 {
			field := &tenantsv1.CustomField{Id: newID(), Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}
			s.CustomFields = append(s.CustomFields, field)
			// In JSON each of these characters has six bytes.
			answers = append(answers, &linksv1.PersonalLinkAnswer{FieldId: field.GetId(), TextValue: new(strings.Repeat("<", 2000))})
		}
		for range 15 {
			recipients = append(recipients, &linksv1.PersonalLinkRecipient{Label: "Ann", CustomFields: answers})
		}
	})
	req := &privacyv1.ExportPersonRecordsRequest{TenantId: f.tenant, RequestedBy: operator()}
	for _, r := range f.create(t, f.toCampaign(recipients...)) {
		req.RecordIds = append(req.RecordIds, r.GetLink().GetId())
	}
	_, err := f.personal.ExportPersonRecords(t.Context(), req)
	require.True(t, problem.Is(err, problem.PayloadTooLarge), "%v", err)
	req.RecordIds = req.GetRecordIds()[:1]
	_, err = f.personal.ExportPersonRecords(t.Context(), req)
	require.NoError(t, err)
}

func TestARequestForAPersonIsChecked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.personal.ErasePersonRecords(t.Context(), &privacyv1.ErasePersonRecordsRequest{
		TenantId: "x", RequestedBy: &commonv1.Actor{}, RecordIds: []string{"x"},
	})
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
	_, err = f.personal.FindPersonRecords(t.Context(), &privacyv1.FindPersonRecordsRequest{
		TenantId: f.tenant, PersonalLinkIds: make([]string, 2001),
	})
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
}
