package rules_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/fields/fieldstest"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/testenv"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

func linkIn(status linksv1.PersonalLinkStatus) *rules.Link {
	return &rules.Link{Record: &linksv1.PersonalLink{
		Id: uuid.NewString(), Status: status, CreatedAt: timestamppb.New(noon),
		UpdatedAt: timestamppb.New(noon.Truncate(time.Microsecond)),
	}}
}

func TestTextsAreAsLongAsTheContractAllows(t *testing.T) {
	t.Parallel()
	recipient, cancel := &linksv1.PersonalLinkRecipient{}, &linksv1.CancelPersonalLinkRequest{}
	fieldstest.RequireLimits(t, recipient, func(errs *fields.Errors) {
		_, found := rules.NewRecipientChecker(&tenantsv1.GetTenantSettingsResponse{}).Check(recipient)
		errs.AddAll(found)
	})
	fieldstest.RequireLimits(t, cancel, func(errs *fields.Errors) { rules.CheckReason(cancel.GetReason(), errs) })
}

func TestTheStateTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from            linksv1.PersonalLinkStatus
		cancelled       bool
		cancelRefusal   problem.Code
		approved        bool
		approvalRefusal problem.Code
		lock            bool
		seen            linksv1.ClaimState
	}{
		{from: rules.Requested, cancelled: true, approved: true, seen: linksv1.ClaimState_CLAIM_STATE_WAITING},
		{from: rules.Active, cancelled: true, lock: true, seen: linksv1.ClaimState_CLAIM_STATE_OPEN},
		{from: rules.Claimed, cancelRefusal: problem.NotCancellable, seen: linksv1.ClaimState_CLAIM_STATE_CLAIMED},
		{
			from: rules.Expired, cancelRefusal: problem.NotCancellable, approvalRefusal: problem.NotEditable,
			seen: linksv1.ClaimState_CLAIM_STATE_EXPIRED,
		},
		{from: rules.Cancelled, approvalRefusal: problem.NotEditable, seen: linksv1.ClaimState_CLAIM_STATE_EXPIRED},
	} {
		t.Run(enumname.String(c.from), func(t *testing.T) {
			changed, err := linkIn(c.from).Cancel("why", noon)
			requireRefusal(t, c.cancelRefusal, c.from, err)
			require.Equal(t, c.cancelled, changed)
			changed, err = linkIn(c.from).Approve(noon)
			requireRefusal(t, c.approvalRefusal, c.from, err)
			require.Equal(t, c.approved, changed)
			require.Equal(t, c.lock, linkIn(c.from).LockClaim(uuid.NewString()))
			require.Equal(t, c.seen, rules.ClaimState(c.from))
		})
	}
}

func requireRefusal(t *testing.T, want problem.Code, from linksv1.PersonalLinkStatus, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, want, p.Code)
	require.Equal(t, enumname.String(from), p.CurrentStatus)
}

func TestALockedLinkChangesByItsOwnClaimOnly(t *testing.T) {
	t.Parallel()
	l, mine, other := linkIn(rules.Active), uuid.NewString(), uuid.NewString()
	require.True(t, l.LockClaim(mine))
	require.False(t, l.LockClaim(other), "another claim holds the lock")
	_, err := l.Cancel("why", noon)
	require.ErrorIs(t, err, rules.ErrClaimLocked)
	require.False(t, l.FinishClaim(other, rules.ClaimOutcome{OrderID: other}, noon))
	require.False(t, l.UnlockClaim(other))
	require.True(t, l.FinishClaim(mine, rules.ClaimOutcome{OrderID: mine}, noon))
	require.False(t, l.FinishClaim(mine, rules.ClaimOutcome{OrderID: mine}, noon), "once")
	require.False(t, l.UnlockClaim(mine))
	require.Equal(t, mine, l.Record.GetOrderId())
	require.Nil(t, l.ClaimOrderID)
}

func TestALinkThatLostItsClaimWasClaimedWhenItsOrderWasPlaced(t *testing.T) {
	t.Parallel()
	now := noon.Truncate(time.Microsecond)
	for name, tc := range map[string]struct{ placed, claimed time.Time }{
		"earlier":                        {noon.Add(-time.Minute), noon.Add(-time.Minute)},
		"by a clock that was ahead":      {noon.Add(time.Minute), now},
		"by a clock that was far behind": {noon.Add(-1000 * time.Hour), now},
	} {
		t.Run(name, func(t *testing.T) {
			l, mine, first := linkIn(rules.Active), uuid.NewString(), uuid.NewString()
			l.Record.CreatedAt, l.Record.UpdatedAt = timestamppb.New(noon.Add(-time.Hour)), timestamppb.New(noon.Add(-time.Hour))
			require.True(t, l.LockClaim(mine))
			require.True(t, l.FinishClaim(mine, rules.ClaimOutcome{OrderID: first, PlacedAt: tc.placed}, noon))
			require.Equal(t, first, l.Record.GetOrderId())
			require.Equal(t, tc.claimed, l.Record.GetClaimedAt().AsTime())
			require.Equal(t, now, l.Record.GetUpdatedAt().AsTime(), "the change is new")
		})
	}
}

func TestAnUnlockedLinkIsUnchanged(t *testing.T) {
	t.Parallel()
	l, orderID := linkIn(rules.Active), uuid.NewString()
	before := l.Record.String()
	require.True(t, l.LockClaim(orderID))
	require.True(t, l.UnlockClaim(orderID))
	require.False(t, l.FinishClaim(orderID, rules.ClaimOutcome{OrderID: orderID}, noon))
	require.Equal(t, before, l.Record.String())
}

func TestTheTimesOfALinkGrowEvenIfTheClockJumpsBack(t *testing.T) {
	t.Parallel()
	for _, clock := range []time.Time{noon, noon.Add(-time.Hour), noon.Add(time.Hour)} {
		l := linkIn(rules.Requested)
		before := l.Record.GetUpdatedAt().AsTime()
		_, err := l.Approve(clock)
		require.NoError(t, err)
		approved := l.Record.GetUpdatedAt().AsTime()
		require.True(t, approved.After(before))
		require.Equal(t, approved, l.Record.GetApprovedAt().AsTime())
		_, err = l.Cancel("why", clock)
		require.NoError(t, err)
		require.True(t, l.Record.GetUpdatedAt().AsTime().After(approved))
		require.Zero(t, l.Record.GetUpdatedAt().AsTime().Nanosecond()%1000, "whole microseconds")
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		token := rules.NewToken(identity.Cell{Letter: "b"})
		require.Regexp(t, `^b[A-Za-z0-9_-]{24}$`, token, "the cell and 144 bits")
		require.False(t, seen[token])
		seen[token] = true
		hash, ok := rules.HashToken(token)
		require.True(t, ok)
		require.Len(t, hash, 32)
		require.NotContains(t, string(hash), token)
	}
	token := rules.NewToken(identity.Cell{Letter: "b"})
	for _, other := range []string{"", "a", token[1:], "B" + token[1:], token + "A", "b+" + token[2:]} {
		_, ok := rules.HashToken(other)
		require.False(t, ok, other)
	}
	require.Equal(t, "https://x.example/c/tok", rules.ClaimURL("https://x.example/c/", "tok"))
}

func TestATokenHasAtLeast128RandomBits(t *testing.T) {
	t.Parallel()
	var tokens []string
	for range 1000 {
		tokens = append(tokens, rules.NewToken(identity.Cell{Letter: "b"}))
	}
	require.NotEqual(t, tokens[0], tokens[1])
	require.GreaterOrEqual(t, testenv.EntropyBits(tokens), 128.0)
}

func TestARecipientsTexts(t *testing.T) {
	t.Parallel()
	type recipient = linksv1.PersonalLinkRecipient
	check := func(in *recipient) (rules.Recipient, []string) {
		out, violations := rules.NewRecipientChecker(&tenantsv1.GetTenantSettingsResponse{}).Check(in)
		var found []string
		for _, v := range violations {
			found = append(found, v.Field+" "+v.Code)
		}
		return out, found
	}
	blank := "\ufeff\u2060"
	sent := &recipient{
		Label: "Ann", ExternalRecipientId: &blank, Email: &blank, Message: &blank, Locale: &blank, ManagerEmail: &blank,
	}
	out, found := check(sent)
	require.Empty(t, found, "what is blank is absent")
	require.Equal(t, rules.Recipient{Sent: sent, Locale: "en-US", Details: rules.Details{Label: "Ann"}}, out)

	_, found = check(&recipient{Label: "Ann", Message: new("Hi\r\n\tAnn")})
	require.Empty(t, found, "a message has lines")
	for text, want := range map[string][]string{
		"\u200b":       {"label required"},
		"a\nb":         {"label invalid", "externalRecipientId invalid", "email invalid"},
		"a\x1bb":       {"label invalid", "externalRecipientId invalid", "message invalid", "email invalid"},
		"\u202egnp.ex": {"label invalid", "externalRecipientId invalid", "email invalid"},
	} {
		_, found = check(&recipient{Label: text, ExternalRecipientId: &text, Email: &text, Message: &text})
		require.Equal(t, want, found, "%q", text)
	}
}

func TestOneAddressIsGivenOnceInABatch(t *testing.T) {
	t.Parallel()
	bo := &tenantsv1.TeamMember{Id: "m", Email: "bo@xn--bcher-kva.example", Active: true}
	settings := &tenantsv1.GetTenantSettingsResponse{Team: []*tenantsv1.TeamMember{bo}}
	checker := rules.NewRecipientChecker(settings)
	for _, in := range []struct{ email, code string }{
		{"x@bücher.example", ""},
		{"x@xn--bcher-kva.example", problem.FieldDuplicate},
		{"X@BÜCHER.example", problem.FieldDuplicate},
		{"\u200by@bücher.example", problem.FieldInvalid},
		{"y@xn--bcher-kva.example", problem.FieldDuplicate},
		{"z@bücher.example", ""},
	} {
		sent := &linksv1.PersonalLinkRecipient{Label: "Ann", Email: &in.email, ManagerEmail: new("Bo@bücher.example")}
		out, violations := checker.Check(sent)
		require.Equal(t, "m", *out.ManagerID)
		if in.code == "" {
			require.Empty(t, violations, "%q", in.email)
			require.Equal(t, in.email, out.Details.Email, "it is stored as it was sent")
			continue
		}
		require.Len(t, violations, 1, "%q", in.email)
		require.Equal(t, in.code, violations[0].Code, "%q", in.email)
	}
}

func TestTheErrorsOfOneRecipientAreBounded(t *testing.T) {
	t.Parallel()
	in := &linksv1.PersonalLinkRecipient{}
	for range 500 {
		in.CustomFields = append(in.CustomFields, &linksv1.PersonalLinkAnswer{FieldId: "x"})
	}
	_, violations := rules.NewRecipientChecker(&tenantsv1.GetTenantSettingsResponse{}).Check(in)
	require.Len(t, violations, 50)
	require.Equal(t, "label", violations[0].Field)
	require.Equal(t, problem.FieldRequired, violations[0].Code)
}

func TestAnswersMustMatchTheCustomFieldsOfTheTenant(t *testing.T) {
	t.Parallel()
	const field = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"
	settings := &tenantsv1.GetTenantSettingsResponse{Tenant: &tenantsv1.Tenant{CustomFields: []*tenantsv1.CustomField{
		{Id: field, Label: "Floor", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT, Required: true},
	}}}
	for text, want := range map[string]bool{"": true, "2": false} {
		in := &linksv1.PersonalLinkRecipient{Label: "Ada"}
		if text != "" {
			in.CustomFields = []*linksv1.PersonalLinkAnswer{{FieldId: field, TextValue: &text}}
		}
		_, violations := rules.NewRecipientChecker(settings).Check(in)
		refused := slices.ContainsFunc(violations, func(v problem.Violation) bool { return v.Field == "customFields" })
		require.Equal(t, want, refused, violations)
	}
}
